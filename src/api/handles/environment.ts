import type { CopyReport } from '../../model/files/copy-report.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { EnvironmentInfo } from '../contract/data/environment.ts'
import type { FilesDiff } from '../contract/data/files.ts'
import type { ApplyReport } from '../host/apply.ts'
import { checked, type Given, options as optionsOf } from '../inputs/checked.ts'
import * as e from '../inputs/environment-inputs.ts'
import { idempotencyKey, signal } from '../inputs/values.ts'
import { type ApplyOptions, applyOnto } from './copying/apply-changes.ts'
import { type ExportOptions, exportTo } from './copying/export-files.ts'
import { EnvironmentLife } from './environment/life.ts'
import { type Copied, EnvironmentFiles } from './files.ts'
import { type Forks, forksOf, type LiveForkOptions, liveForkInput } from './forks.ts'
import type { Handles } from './handles.ts'
import { EnvironmentPorts } from './ports.ts'
import { idOf, referenceOf } from './references.ts'
import type { Snapshot } from './snapshot.ts'

export type { FollowOptions, KillOptions, ListCommandsOptions } from './environment/commands.ts'
export type {
  EndOptions,
  NetOptions,
  PauseOptions,
  PolicyOptions,
} from './environment/life.ts'

const snapshotInput = optionsOf({ ...e.snapshot, signal, idempotencyKey })
const diffInput = optionsOf({ ...e.diff, signal })
const restoreInput = optionsOf({ ...e.restoring, signal })

export type SnapshotOptions = Given<typeof snapshotInput>
export type RestoreOptions = Given<typeof restoreInput>
export type DiffOptions = Given<typeof diffInput>

/** A live computer: files, processes, terminals. Its branches are made, compared and copied out here. */
export class Environment extends EnvironmentLife {
  /** Files inside: read, write, list, upload, download, watch. */
  readonly files: EnvironmentFiles
  /** Ports inside, reached from the host. */
  readonly ports: EnvironmentPorts

  /** Made by `Forkpoint.create`, `get` and `list`. */
  constructor(handles: Handles, info: EnvironmentInfo) {
    super(handles, info)
    this.files = new EnvironmentFiles(
      () => this.connect(),
      (copy) => this.#noteCopy(copy),
    )
    this.ports = new EnvironmentPorts(() => this.connect('ports'))
  }

  /**
   * Takes a snapshot of files, processes and terminals together. The environment continues.
   *
   * @example
   * const ready = await env.snapshot({ name: 'ready' })
   */
  async snapshot(options: SnapshotOptions = {}): Promise<Snapshot> {
    const { signal, idempotencyKey, ...wanted } = checked('snapshot', snapshotInput, options)
    const input = { id: this.id, ...wanted }
    const call = { signal, idempotencyKey }
    const taken = await this.control.call('environment.snapshot', input, call)
    this.learn({ ...this.lastInfo, head: taken.id })
    return this.handles.snapshot(taken)
  }

  /**
   * Becomes what the snapshot holds, in place. Rejects if its own last snapshot cannot be restored,
   * because what runs here is then the only copy; `force` gives that up.
   */
  async restore(to: Snapshot | string, options: RestoreOptions = {}): Promise<void> {
    const { signal, ...wanted } = checked('restore', restoreInput, options)
    const input = { id: this.id, to: referenceOf('restore', to), ...wanted }
    this.learn(await this.control.call('environment.restore', input, { signal }))
  }

  /** Makes new environments that continue from here. This one continues too. */
  async fork(count = 1, options: LiveForkOptions = {}): Promise<Forks> {
    const { signal, idempotencyKey, ...wanted } = checked('fork', liveForkInput, options)
    const input = { id: this.id, count, ...wanted }
    const call = { signal, idempotencyKey }
    return forksOf(this.handles, await this.control.call('environment.fork', input, call))
  }

  /** Becomes what another environment or a snapshot is: the branch to keep. `force` as in `restore`. */
  async promote(from: Environment | Snapshot, options: RestoreOptions = {}): Promise<void> {
    const { signal, ...wanted } = checked('promote', restoreInput, options)
    const input = { id: this.id, from: idOf('promote', from), ...wanted }
    this.learn(await this.control.call('environment.promote', input, { signal }))
  }

  /**
   * How the files of another environment or snapshot differ from the files here; without one, what
   * changed here since the last snapshot.
   *
   * @example
   * const { changes, patch } = await env.diff(undefined, { patch: 'text' })
   */
  async diff(to?: Environment | Snapshot, options: DiffOptions = {}): Promise<FilesDiff> {
    return await diffOf(this.handles, this.id, to, options)
  }

  /**
   * Copies the current directory of the shell `main`, or what you name, into a new directory on the caller's
   * machine.
   *
   * @example
   * const { entries, bytes } = await env.export('./result', { path: '/app', exclude: ['node_modules'] })
   */
  async export(dir: string, options: ExportOptions = {}): Promise<CopyReport> {
    return await exportTo(this.handles, this.id, dir, options, () => this.currentDirectory())
  }

  /**
   * Applies its changes to a directory on the caller's machine: all of them, or none if any conflicts. They count
   * from when the directory was copied in with `files.upload`, or else from when the environment was made.
   * `mode: 'plan'` only reports what it would do.
   *
   * @example
   * const { changes, conflicts } = await env.apply('./project', { mode: 'plan' })
   */
  async apply(dir: string, options: ApplyOptions = {}): Promise<ApplyReport> {
    const info = await this.ask()
    return await applyOnto(this.handles, info, dir, options, () => this.currentDirectory())
  }

  async #noteCopy(copy: Copied): Promise<void> {
    this.learn(await this.control.call('environment.noteCopy', { id: this.id, ...copy }))
  }
}

/** How the files of `to` differ from those of `of`; without `to`, how `of` differs from its head or parent. */
export async function diffOf(
  { control }: Handles,
  of: Snapshot['id'] | EnvironmentId,
  to: Environment | Snapshot | undefined,
  options: DiffOptions,
): Promise<FilesDiff> {
  const { signal, ...wanted } = checked('diff', diffInput, options)
  const input = to === undefined ? { of, ...wanted } : { of, to: idOf('diff', to), ...wanted }
  return await control.call('files.diff', input, { signal })
}
