import type { Json } from '../../model/environment.ts'
import { BackendError } from '../../model/errors.ts'
import type { CopyReport } from '../../model/files/copy-report.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { FilesDiff } from '../contract/data/files.ts'
import type { Compaction, SnapshotInfo } from '../contract/data/snapshot.ts'
import type { CallOptions } from '../control.ts'
import { checked, type Given, options as optionsOf } from '../inputs/checked.ts'
import * as e from '../inputs/environment-inputs.ts'
import { json, labelChanges } from '../inputs/maps.ts'
import { signal } from '../inputs/values.ts'
import { type ExportOptions, exportTo } from './copying/export-files.ts'
import { type DiffOptions, diffOf, type Environment } from './environment.ts'
import { type ForkOptions, type Forks, forkInput, forksOf } from './forks.ts'
import type { Handles } from './handles.ts'

export const removalInput = optionsOf({ ...e.removal, signal })
const callInput = optionsOf({ signal })

export type RemovalOptions = Given<typeof removalInput>

/** The state of an environment at one moment, to restore and to fork. */
export class Snapshot {
  readonly kind = 'snapshot'
  readonly id: SnapshotId
  readonly #handles: Handles
  #info: SnapshotInfo

  /** Made by `env.snapshot` and `fp.snapshot`. */
  constructor(handles: Handles, info: SnapshotInfo) {
    this.#handles = handles
    this.#info = info
    this.id = info.id
  }

  get name(): string | null {
    return this.#info.name
  }

  get parent(): SnapshotId | null {
    return this.#info.parent
  }

  /** What this handle last learned about it; `info` asks again. */
  get lastInfo(): SnapshotInfo {
    return this.#info
  }

  /**
   * Its status, what it captured, its sizes, timing, labels and so on, as they are now.
   *
   * @example
   * const { captured, sizes, timing } = await ready.info()
   */
  async info(options: CallOptions = {}): Promise<SnapshotInfo> {
    const call = checked('info', callInput, options)
    return this.#learn(await this.#control.call('snapshot.get', { reference: this.id }, call))
  }

  /**
   * Makes new environments, each with its own files, memory, processes and identity. Returns those that
   * could be made; `errors` says why the others could not.
   *
   * @example
   * const tries = await ready.fork(8, { name: 'try' })
   * for (const error of tries.errors) console.error(error.message)
   */
  async fork(count = 1, options: ForkOptions = {}): Promise<Forks> {
    const { signal, idempotencyKey, ...wanted } = checked('fork', forkInput, options)
    const input = { id: this.id, count, ...wanted }
    const call = { signal, idempotencyKey }
    return forksOf(this.#handles, await this.#control.call('snapshot.fork', input, call))
  }

  /**
   * How the files of another snapshot or environment differ from the files here; without one, what
   * changed here since the parent.
   *
   * @example
   * const { changes } = await ready.diff(env, { paths: ['/app'] })
   */
  async diff(to?: Environment | Snapshot, options: DiffOptions = {}): Promise<FilesDiff> {
    return await diffOf(this.#handles, this.id, to, options)
  }

  /** Copies its working directory, or what you name, into a new directory on the caller's machine. */
  async export(dir: string, options: ExportOptions = {}): Promise<CopyReport> {
    return await exportTo(this.#handles, this.id, dir, options, async () => this.#info.workdir)
  }

  /**
   * Sets labels. The others stay, and null removes one.
   *
   * @example
   * await snapshot.label({ stage: 'tested', draft: null })
   */
  async label(labels: Readonly<Record<string, string | null>>): Promise<void> {
    const input = { id: this.id, labels: checked('label', labelChanges, labels) }
    this.#learn(await this.#control.call('snapshot.label', input))
  }

  /**
   * Replaces the data that the caller keeps with it, such as a score; null removes it.
   *
   * @example
   * await snapshot.annotate({ score: 0.91, tests: { passed: 40, failed: 2 } })
   */
  async annotate(metadata: Json, options: CallOptions = {}): Promise<void> {
    const input = { id: this.id, metadata: checked('annotate', json, metadata) }
    const call = checked('annotate', callInput, options)
    this.#learn(await this.#control.call('snapshot.annotate', input, call))
  }

  async rename(name: string, options: CallOptions = {}): Promise<void> {
    const input = { id: this.id, name: checked('rename', e.name, name) }
    const call = checked('rename', callInput, options)
    this.#learn(await this.#control.call('snapshot.rename', input, call))
  }

  /** Waits until it can be restored. Rejects if it never will be. */
  async ready(options: CallOptions = {}): Promise<this> {
    const call = checked('ready', callInput, options)
    this.#learn(await this.#control.call('snapshot.ready', { id: this.id }, call))
    return this
  }

  /** Waits until it is on disk, where it survives a power cut. */
  async durable(options: CallOptions = {}): Promise<this> {
    const call = checked('durable', callInput, options)
    this.#learn(await this.#control.call('snapshot.durable', { id: this.id }, call))
    return this
  }

  /**
   * Makes sure that it can be restored. If nothing was made from it yet, a copy is made, which never
   * runs. Rejects with the reason if it cannot be restored.
   */
  async prove(options: CallOptions = {}): Promise<this> {
    const call = checked('prove', callInput, options)
    this.#learn(await this.#control.call('snapshot.prove', { id: this.id }, call))
    return this
  }

  /** Squashes its whole chain into one layer, and makes its memory its own. */
  async compact(options: CallOptions = {}): Promise<Compaction> {
    const call = checked('compact', callInput, options)
    const [done] = await this.#control.call('snapshot.compact', { reference: this.id }, call)
    if (done === undefined) {
      const remedy = 'run `forkpoint doctor`'
      throw new BackendError(`compacting snapshot ${this.id} reported nothing`, { remedy })
    }
    return done
  }

  /**
   * Removes it. Rejects while an environment or another snapshot builds on it. `cascade` also removes
   * the snapshots that do. Resolves to the ids of all removed snapshots.
   *
   * @example
   * await snapshot.remove({ cascade: true })
   */
  async remove(options: RemovalOptions = {}): Promise<readonly SnapshotId[]> {
    const { signal, ...wanted } = checked('remove', removalInput, options)
    const input = { references: [this.id], ...wanted }
    return await this.#control.call('snapshot.remove', input, { signal })
  }

  get #control() {
    return this.#handles.control
  }

  #learn(info: SnapshotInfo): SnapshotInfo {
    this.#info = info
    return info
  }
}
