import type { CommandHandle, CommandInfo, CommandOffsets } from '../agent/commands/commands.ts'
import { attachCommand, listCommands, startCommand } from '../agent/commands/commands.ts'
import { type ExecSpec, execCommand } from '../agent/commands/exec.ts'
import { closeShell, listShells, type ShellInfo } from '../agent/environment.ts'
import { listTerminals, type TerminalInfo } from '../agent/terminals/terminals.ts'
import type { AgentConnection } from '../agent/wire/connection.ts'
import type { CopyReport, InstanceStats } from '../backends/backend.ts'
import type { Capabilities } from '../model/capabilities.ts'
import type { EnvironmentRecord, EnvironmentStatus } from '../model/environment.ts'
import { ConflictError } from '../model/errors.ts'
import type { EnvironmentId } from '../model/ids.ts'
import type { ApplyOptions, ApplyReport } from './copying/apply.ts'
import {
  applyFrom,
  type DiffOptions,
  diffBetween,
  exportFrom,
  type FilesDiff,
} from './copying/compare.ts'
import type { ExportOptions } from './copying/export.ts'
import type { Engine } from './engine.ts'
import {
  type ExecOptions,
  type ExecResult,
  execSpec,
  resultOf,
  type SpawnOptions,
} from './exec-options.ts'
import { EnvironmentFiles } from './files.ts'
import { idOf, referenceOf } from './handles.ts'
import { type LogEntry, logEntry } from './history/log.ts'
import { checked } from './inputs/checked.ts'
import {
  execInput,
  forkInput,
  offsetsInput,
  pauseInput,
  spawnInput,
} from './inputs/environment-inputs.ts'
import { word } from './inputs/values.ts'
import type { ForkOptions } from './operations/fork.ts'
import type { Forks } from './operations/forks.ts'
import { type PauseOptions, pause, resume } from './operations/pause.ts'
import { promote } from './operations/promote.ts'
import { remove } from './operations/remove.ts'
import { rename } from './operations/rename.ts'
import { restore, revive } from './operations/restore.ts'
import { release, type SnapshotOptions, snapshot } from './operations/snapshot.ts'
import { EnvironmentPorts } from './ports.ts'
import { currentRecord, liveRecord } from './recovery/liveness.ts'
import { Shell } from './shell.ts'
import { Snapshot } from './snapshot-handle.ts'

/** What `ls` shows of an environment. */
export type EnvironmentInfo = Omit<EnvironmentRecord, 'instance'>

/** A live computer: files, processes, terminals. */
export class Environment {
  readonly kind = 'environment'
  readonly id: EnvironmentId
  /** Files inside: read, write, list, upload, download, watch. */
  readonly files: EnvironmentFiles
  /** Ports inside, reached from the host. */
  readonly ports: EnvironmentPorts
  readonly #engine: Engine
  #record: EnvironmentRecord

  /** Made by `Forkpoint.create`, `get` and `list`. */
  constructor(engine: Engine, record: EnvironmentRecord) {
    this.#engine = engine
    this.#record = record
    this.id = record.id
    this.files = new EnvironmentFiles(() => this.#connect())
    this.ports = new EnvironmentPorts(() => this.#connect())
  }

  get name(): string | null {
    return this.#record.name
  }

  get backend(): EnvironmentRecord['backend'] {
    return this.#record.backend
  }

  /** As it was when last looked at; `refresh` looks again. */
  get status(): EnvironmentStatus {
    return this.#record.status
  }

  get head(): EnvironmentRecord['head'] {
    return this.#record.head
  }

  get capabilities(): Capabilities {
    return this.#engine.backend(this.backend).capabilities
  }

  get info(): EnvironmentInfo {
    const { instance: _, ...info } = this.#record
    return info
  }

  refresh(): this {
    this.#record = currentRecord(this.#engine, this.id)
    return this
  }

  /**
   * Runs a command to its end and resolves to its result, whatever its exit code. A string is a
   * command line of the persistent shell `main`, or of the one named; words are passed as they are.
   *
   * @example
   * await env.exec('cd /app && export MODE=debug')
   * const { stdout, exitCode } = await env.exec('pwd; echo $MODE')
   */
  async exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    const { stdin, signal, onStdout, onStderr, ...rest } = checked('exec', execInput, options)
    const spec = execSpec(command, rest, this.#engine.settings.exec.timeoutMs)
    const result = await execCommand(await this.#connect(), { ...spec, stdin } as ExecSpec, {
      ...{ signal, onStdout, onStderr, reconnect: () => this.#connect() },
    })
    return resultOf(result)
  }

  /** Starts a command and returns while it runs; it is found again with `command(id)`. */
  async spawn(
    command: string | readonly string[],
    options: SpawnOptions = {},
  ): Promise<CommandHandle> {
    const { stdin = 'none', id, ...rest } = checked('spawn', spawnInput, options)
    const spec = execSpec(command, rest, null)
    return startCommand(await this.#connect(), { ...spec, stdin, ...(id !== undefined && { id }) })
  }

  /** A command started before, by this process or another; output goes on after `offsets`. */
  async command(id: string, offsets: Partial<CommandOffsets> = {}): Promise<CommandHandle> {
    const { stdout = 0, stderr = 0 } = checked('offsets', offsetsInput, offsets)
    return attachCommand(await this.#connect(), checked('id', word, id), { stdout, stderr })
  }

  async commands(): Promise<CommandInfo[]> {
    return listCommands(await this.#connect())
  }

  /** An interactive terminal of that name, started when it is first used. */
  shell(name = 'main'): Shell {
    return new Shell(checked('shell', word, name), () => this.#connect())
  }

  /** The persistent shells that `exec` runs commands in. */
  async shells(): Promise<ShellInfo[]> {
    return listShells(await this.#connect())
  }

  async closeShell(name: string): Promise<void> {
    await closeShell(await this.#connect(), checked('closeShell', word, name))
  }

  async terminals(): Promise<TerminalInfo[]> {
    return listTerminals(await this.#connect())
  }

  /** Freezes every process; nothing inside notices. */
  async pause(options: PauseOptions = {}): Promise<void> {
    const { release: isReleased } = checked('pause', pauseInput, options)
    if (isReleased) await release(this.#engine, this.id)
    else await pause(this.#engine, this.id)
    this.refresh()
  }

  /** Goes on; one that was released, or died with its host, comes back from its head. */
  async resume(): Promise<void> {
    const { status, head } = this.refresh()
    const asleep = status === 'released' || (status === 'dead' && head !== null)
    this.#record = await (asleep ? revive : resume)(this.#engine, this.id)
  }

  async stats(): Promise<InstanceStats> {
    const { instance } = liveRecord(this.#engine, this.id)
    return this.#engine.backend(this.backend).stats(this.id, instance)
  }

  /**
   * Takes a snapshot of files, processes and terminals together. The environment continues.
   *
   * @example
   * const ready = await env.snapshot({ name: 'ready' })
   */
  async snapshot(options: SnapshotOptions = {}): Promise<Snapshot> {
    const record = await snapshot(this.#engine, this.id, options)
    this.refresh()
    return new Snapshot(this.#engine, record, (made) => new Environment(this.#engine, made))
  }

  /** Becomes what the snapshot holds, in place. */
  async restore(to: Snapshot | string): Promise<void> {
    this.#record = await restore(this.#engine, this.id, referenceOf('restore', to))
  }

  /** New environments that go on from here; this one goes on too. */
  async fork(count = 1, options: Omit<ForkOptions, 'count'> = {}): Promise<Forks> {
    // Before a snapshot is taken that nothing would come of.
    const wanted = checked('fork', forkInput, { ...checked('fork', forkInput, options), count })
    const base = await this.snapshot()
    return base.fork(count, wanted)
  }

  /** Becomes what another environment, or a snapshot, is: the branch to keep. */
  async promote(from: Environment | Snapshot): Promise<void> {
    this.#record = await promote(this.#engine, idOf('promote', from), this.id)
  }

  /**
   * What became of the files on the way from here to another environment or snapshot; without one,
   * what was changed here since the last snapshot.
   *
   * @example
   * const { changes, patch } = await env.diff(undefined, { patch: 'text' })
   */
  async diff(to?: Environment | Snapshot, options: DiffOptions = {}): Promise<FilesDiff> {
    const other = to === undefined ? undefined : idOf('diff', to)
    return diffBetween(this.#engine, this.id, other, options)
  }

  /** Copies its working directory, or the paths named, into a new directory of the host. */
  export(dir: string, options: ExportOptions = {}): Promise<CopyReport> {
    return exportFrom(this.#engine, this.id, dir, options)
  }

  /** Makes its changes in a directory of the host: all, or none if that changed there as well. */
  apply(dir: string, options: ApplyOptions = {}): Promise<ApplyReport> {
    return applyFrom(this.#engine, this.id, dir, options)
  }

  /** Everything that was done with it, oldest first, with the time that each step took. */
  async log(): Promise<LogEntry[]> {
    return this.#engine.store.journal.list(this.id).map(logEntry)
  }

  async rename(name: string): Promise<void> {
    this.#record = await rename(this.#engine, this.id, name)
  }

  async remove(): Promise<void> {
    await remove(this.#engine, this.id)
  }

  /** A paused agent cannot answer, and a dead one never will: say so instead of waiting. */
  async #connect(): Promise<AgentConnection> {
    const record = liveRecord(this.#engine, this.id)
    this.#record = record
    if (record.status !== 'paused') return this.#engine.connections.to(this.id)
    throw new ConflictError(`environment ${record.name ?? record.id} is paused`, {
      remedy: `resume it with \`forkpoint resume ${record.name ?? record.id}\``,
    })
  }
}
