import type { CopyReport } from '../backends/backend.ts'
import type { EnvironmentRecord } from '../model/environment.ts'
import type { SnapshotId } from '../model/ids.ts'
import type { SnapshotRecord } from '../model/snapshot.ts'
import { type Compaction, compact } from './background/compact.ts'
import { type DiffOptions, diffBetween, exportFrom, type FilesDiff } from './copying/compare.ts'
import type { ExportOptions } from './copying/export.ts'
import type { Engine } from './engine.ts'
import type { Environment } from './environment.ts'
import { idOf } from './handles.ts'
import type { RemovalOptions } from './history/removal.ts'
import { checked } from './inputs/checked.ts'
import { forkInput } from './inputs/environment-inputs.ts'
import { type ForkOptions, fork } from './operations/fork.ts'
import { type Forks, forksOf } from './operations/forks.ts'
import { removeSnapshots } from './operations/prune.ts'
import { labelSnapshot, whenReady } from './operations/snapshot-record.ts'

/** What `snapshots` shows. */
export type SnapshotInfo = Omit<SnapshotRecord, 'image' | 'origin'>

/** A moment that can be gone back to, and branched from. */
export class Snapshot {
  readonly kind = 'snapshot'
  readonly id: SnapshotId
  readonly #engine: Engine
  readonly #open: (record: EnvironmentRecord) => Environment
  #record: SnapshotRecord

  /** Made by `env.snapshot` and `fp.snapshot`. */
  constructor(
    engine: Engine,
    record: SnapshotRecord,
    open: (record: EnvironmentRecord) => Environment,
  ) {
    this.#engine = engine
    this.#open = open
    this.#record = record
    this.id = record.id
  }

  get name(): string | null {
    return this.#record.name
  }

  get parent(): SnapshotId | null {
    return this.#record.parent
  }

  /** As it was when last looked at; `refresh` looks again. */
  get status(): SnapshotRecord['status'] {
    return this.#record.status
  }

  /** What is really inside. */
  get captured(): SnapshotRecord['captured'] {
    return this.#record.captured
  }

  get sizes(): SnapshotRecord['sizes'] {
    return this.#record.sizes
  }

  get timing(): SnapshotRecord['timing'] {
    return this.#record.timing
  }

  /** How its processes come by their memory; undefined if it holds none. */
  get memory(): SnapshotRecord['memory'] {
    return this.#record.memory
  }

  get labels(): SnapshotRecord['labels'] {
    return this.#record.labels
  }

  get info(): SnapshotInfo {
    const { image: _image, origin: _origin, ...info } = this.#record
    return info
  }

  refresh(): this {
    this.#record = this.#engine.store.snapshots.resolve(this.id)
    return this
  }

  /**
   * New environments, each with files, memory, processes and an identity of its own. Those that
   * could be made are returned; `errors` tells of the others.
   *
   * @example
   * const tries = await ready.fork(8, { name: 'try' })
   * for (const error of tries.errors) console.error(error.message)
   */
  async fork(count = 1, options: Omit<ForkOptions, 'count'> = {}): Promise<Forks> {
    const record = this.refresh().#record
    const wanted = { ...checked('fork', forkInput, options), count }
    const { records, errors } = await fork(this.#engine, record, wanted)
    return forksOf(records.map(this.#open), errors)
  }

  /**
   * What became of the files on the way from here to another snapshot or environment; without one,
   * what this snapshot changed over its parent.
   *
   * @example
   * const { changes } = await ready.diff(env, { paths: ['/app'] })
   */
  async diff(to?: Environment | Snapshot, options: DiffOptions = {}): Promise<FilesDiff> {
    const other = to === undefined ? undefined : idOf('diff', to)
    return diffBetween(this.#engine, this.id, other, options)
  }

  /** Copies its files into a new directory of the host. */
  export(dir: string, options: ExportOptions = {}): Promise<CopyReport> {
    return exportFrom(this.#engine, this.id, dir, options)
  }

  /**
   * Sets labels; the others stay, and null takes one away.
   *
   * @example
   * await snapshot.label({ stage: 'tested', draft: null })
   */
  async label(labels: Readonly<Record<string, string | null>>): Promise<void> {
    this.#record = labelSnapshot(this.#engine, this.id, labels)
  }

  /** Waits until it can be restored; rejects if it never will. */
  async ready(): Promise<this> {
    this.#record = await whenReady(this.#engine, this.id)
    return this
  }

  /** Waits until it is on disk and would survive a power cut. */
  async durable(): Promise<this> {
    await this.ready()
    if (!this.#record.durable) await this.#engine.flushes.start(this.#record)
    return this.refresh()
  }

  /** Makes one layer of all that it is made of, which later snapshots then build on. */
  async compact(): Promise<Compaction> {
    const done = await compact(this.#engine, this.id)
    this.refresh()
    return done
  }

  /**
   * Removes it. Refused while an environment or another snapshot builds on it; with `cascade` the
   * snapshots that do so go, too. Resolves to the ids of all that went.
   *
   * @example
   * await snapshot.remove({ cascade: true })
   */
  async remove(options: RemovalOptions = {}): Promise<readonly SnapshotId[]> {
    return await removeSnapshots(this.#engine, [this.id], options)
  }
}
