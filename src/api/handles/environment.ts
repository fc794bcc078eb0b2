import type { CommandInfo, CommandOffsets } from '../../agent/commands/commands.ts'
import {
  attachCommand,
  listCommands,
  signalCommand,
  startCommand,
} from '../../agent/commands/commands.ts'
import { type ExecSpec, execCommand } from '../../agent/commands/exec.ts'
import { reportWait } from '../../agent/commands/turn.ts'
import { closeShell, listShells, type ShellInfo } from '../../agent/environment.ts'
import { listProcesses, type ProcessInfo } from '../../agent/processes.ts'
import { listTerminals, type TerminalInfo } from '../../agent/terminals/terminals.ts'
import type { AgentConnection } from '../../agent/wire/connection.ts'
import type { Capability } from '../../model/capabilities.ts'
import type { NetMode } from '../../model/environment.ts'
import { InvalidInputError } from '../../model/errors.ts'
import type { CopyReport } from '../../model/files/copy-report.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import { notRunning } from '../../model/not-running.ts'
import { unsupported } from '../../model/unsupported.ts'
import type {
  EnvironmentInfo,
  InstanceStats,
  LogEntry,
  NetChange,
} from '../contract/data/environment.ts'
import type { FilesDiff } from '../contract/data/files.ts'
import type { CallOptions } from '../control.ts'
import type { ApplyReport } from '../host/apply.ts'
import { checked, type Given, options as optionsOf } from '../inputs/checked.ts'
import * as e from '../inputs/environment-inputs.ts'
import {
  execInput,
  followInput,
  killInput,
  listCommandsInput,
  spawnInput,
} from '../inputs/exec-inputs.ts'
import { labelChanges } from '../inputs/maps.ts'
import { idempotencyKey, signal, word } from '../inputs/values.ts'
import { Command } from './command.ts'
import { type ApplyOptions, applyOnto } from './copying/apply-changes.ts'
import { type ExportOptions, exportTo } from './copying/export-files.ts'
import {
  type ExecOptions,
  type ExecResult,
  execSpec,
  resultOf,
  type SpawnOptions,
} from './exec-options.ts'
import { type Copied, EnvironmentFiles } from './files.ts'
import { type Forks, forksOf, type LiveForkOptions, liveForkInput } from './forks.ts'
import type { Handles } from './handles.ts'
import { EnvironmentPorts } from './ports.ts'
import { idOf, referenceOf } from './references.ts'
import type { Snapshot } from './snapshot.ts'
import { Terminal } from './terminal.ts'

const snapshotInput = optionsOf({ ...e.snapshot, signal, idempotencyKey })
const pauseInput = optionsOf({ ...e.pause, signal })
const policyInput = optionsOf({ ...e.policy, signal })
const netInput = optionsOf({ ...e.net, signal })
const diffInput = optionsOf({ ...e.diff, signal })
const endInput = optionsOf({ ...e.ending, signal })
const restoreInput = optionsOf({ ...e.restoring, signal })
const callInput = optionsOf({ signal })

export type SnapshotOptions = Given<typeof snapshotInput>
export type PauseOptions = Given<typeof pauseInput>
export type PolicyOptions = Given<typeof policyInput>
export type NetOptions = Given<typeof netInput>
export type EndOptions = Given<typeof endInput>
export type RestoreOptions = Given<typeof restoreInput>
export type FollowOptions = Given<typeof followInput>
export type KillOptions = Given<typeof killInput>
export type ListCommandsOptions = Given<typeof listCommandsInput>
export type DiffOptions = Given<typeof diffInput>

/** A live computer: files, processes, terminals. */
export class Environment {
  readonly kind = 'environment'
  readonly id: EnvironmentId
  /** Files inside: read, write, list, upload, download, watch. */
  readonly files: EnvironmentFiles
  /** Ports inside, reached from the host. */
  readonly ports: EnvironmentPorts
  readonly #handles: Handles
  #info: EnvironmentInfo

  /** Made by `Forkpoint.create`, `get` and `list`. */
  constructor(handles: Handles, info: EnvironmentInfo) {
    this.#handles = handles
    this.#info = info
    this.id = info.id
    this.files = new EnvironmentFiles(
      () => this.#connect(),
      (copy) => this.#noteCopy(copy),
    )
    this.ports = new EnvironmentPorts(() => this.#connect('ports'))
  }

  get name(): string | null {
    return this.#info.name
  }

  get backend(): string {
    return this.#info.backend
  }

  /** What this handle last learned about it; `info` asks again. */
  get lastInfo(): EnvironmentInfo {
    return this.#info
  }

  /**
   * Its status, head, capabilities, labels and so on, as they are now.
   *
   * @example
   * const { status, head } = await env.info()
   */
  async info(options: CallOptions = {}): Promise<EnvironmentInfo> {
    return await this.#ask(checked('info', callInput, options))
  }

  /**
   * Runs a command to its end and resolves to its result, whatever its exit code. A string runs as a
   * command line in the persistent shell `main`, or the one you name; words are passed as they are.
   *
   * @example
   * await env.exec('cd /app && export MODE=debug')
   * const { stdout, exitCode } = await env.exec('pwd; echo $MODE')
   */
  async exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    const { stdin, ...wanted } = checked('exec', execInput, options)
    const { signal, onStdout, onStderr, onWait, abortWaitMs, onLeft, ...rest } = wanted
    const spec = execSpec(command, rest, this.#info.execTimeoutMs)
    const reconnect = () => this.#connect()
    const heard = { onStdout, onStderr, onWait, onLeft }
    const listeners = { signal, abortWaitMs, ...heard, reconnect, kept: 'last' } as const
    const connection = await this.#connect()
    return resultOf(await execCommand(connection, { ...spec, stdin } as ExecSpec, listeners))
  }

  /**
   * Starts a command and returns while it runs. `command(id)` finds it again, even after a snapshot and
   * in a fork.
   */
  async spawn(command: string | readonly string[], options: SpawnOptions = {}): Promise<Command> {
    const { stdin = 'none', id, onWait, ...rest } = checked('spawn', spawnInput, options)
    const spec = execSpec(command, rest, null)
    const named = id === undefined ? { ...spec, stdin } : { ...spec, stdin, id }
    const started = startCommand(await this.#connect(), named)
    const connect = () => this.#connect()
    if (onWait !== undefined) reportWait({ spec, begun: started.pid, connect, onWait })
    return this.#followed(started)
  }

  /**
   * Starts what the image would run in a container: its entry point and command, as its user.
   *
   * @example
   * const env = await fp.create({ from: 'image:nginx' })
   * const server = await env.startImage()
   */
  async startImage(): Promise<Command> {
    const { entrypoint = [], command = [] } = this.#info.image ?? {}
    const words = [...entrypoint, ...command]
    if (words.length > 0) return await this.spawn(words, { mode: 'process' })
    throw new InvalidInputError(`${this.id} has no entry point and no command of an image`, {
      remedy: 'start a program with `spawn`, or `forkpoint exec --process`',
    })
  }

  /**
   * A command that this process or another started earlier. Output continues after `offsets`. Whoever follows
   * it already stops, unless you only read along.
   */
  async command(id: string, options: FollowOptions = {}): Promise<Command> {
    const { stdout = 0, stderr = 0, readAlong } = checked('offsets', followInput, options)
    const attach = async (each: string, offsets: CommandOffsets) =>
      await attachCommand(await this.#connect(), each, offsets, { readAlong })
    return new Command(await attach(checked('id', word, id), { stdout, stderr }), attach)
  }

  /**
   * The commands that run, or were left to themselves and have ended, oldest first. `last` adds the one that
   * `exec` ran to its end most lately: `command(id, { readAlong: true })` reads the end of its output.
   *
   * @example
   * const last = (await env.commands({ last: true })).at(-1)
   */
  async commands(options: ListCommandsOptions = {}): Promise<CommandInfo[]> {
    const wanted = checked('commands', listCommandsInput, options)
    return await listCommands(await this.#connect(), wanted)
  }

  /**
   * Sends a signal to a command, by default SIGTERM. With `graceMs` it is killed if it still runs then.
   *
   * @example
   * await env.kill('build', { signal: 'SIGINT', graceMs: 2000 })
   */
  async kill(id: string, options: KillOptions = {}): Promise<void> {
    const { signal: name = 'SIGTERM', graceMs } = checked('kill', killInput, options)
    const command = checked('id', word, id)
    await signalCommand(await this.#connect(), command, name as NodeJS.Signals, { graceMs })
  }

  /** Every process inside, by pid. */
  async processes(): Promise<ProcessInfo[]> {
    return await listProcesses(await this.#connect())
  }

  /** The terminal with this name; it starts when it is first used. */
  terminal(name = 'main'): Terminal {
    return new Terminal(checked('terminal', word, name), () => this.#connect())
  }

  async terminals(): Promise<TerminalInfo[]> {
    return listTerminals(await this.#connect())
  }

  /** The persistent shells that `exec` runs commands in. */
  async shells(): Promise<ShellInfo[]> {
    return listShells(await this.#connect())
  }

  async closeShell(name: string): Promise<void> {
    await closeShell(await this.#connect(), checked('closeShell', word, name))
  }

  /**
   * Changes what happens to it by itself: how long it exists, and what follows when nobody uses it. Null
   * takes a policy away.
   *
   * @example
   * await env.setPolicy({ ttlMs: 7_200_000, idle: { afterMs: 600_000, action: 'pause' } })
   */
  async setPolicy(policy: PolicyOptions): Promise<void> {
    const { signal, ...changes } = checked('policy', policyInput, policy)
    const input = { id: this.id, ...changes }
    this.#learn(await this.#control.call('environment.policy', input, { signal }))
  }

  /**
   * Changes its network. Programs inside continue, but their connections to the outside are cut. Resolves
   * to the other ends of those that were open.
   *
   * @example
   * const cut = await env.setNet('none')
   */
  async setNet(mode: NetMode, options: NetOptions = {}): Promise<NetChange['cut']> {
    const { signal, ...wanted } = checked('net', netInput, options)
    const input = { id: this.id, mode, ...wanted }
    const { environment, cut } = await this.#control.call('environment.net', input, { signal })
    this.#learn(environment)
    return cut
  }

  /** Freezes every process. Nothing inside notices. */
  async pause(options: PauseOptions = {}): Promise<void> {
    const { signal, ...wanted } = checked('pause', pauseInput, options)
    const input = { id: this.id, ...wanted }
    this.#learn(await this.#control.call('environment.pause', input, { signal }))
  }

  /** Continues. An environment that was released, or died with its host, comes back from its head. */
  async resume(options: CallOptions = {}): Promise<void> {
    const call = checked('resume', callInput, options)
    this.#learn(await this.#control.call('environment.resume', { id: this.id }, call))
  }

  async stats(options: CallOptions = {}): Promise<InstanceStats> {
    const call = checked('stats', callInput, options)
    return await this.#control.call('environment.stats', { id: this.id }, call)
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
    const taken = await this.#control.call('environment.snapshot', input, call)
    this.#learn({ ...this.#info, head: taken.id })
    return this.#handles.snapshot(taken)
  }

  /**
   * Becomes what the snapshot holds, in place. Rejects if its own last snapshot cannot be restored,
   * because what runs here is then the only copy; `force` gives that up.
   */
  async restore(to: Snapshot | string, options: RestoreOptions = {}): Promise<void> {
    const { signal, ...wanted } = checked('restore', restoreInput, options)
    const input = { id: this.id, to: referenceOf('restore', to), ...wanted }
    this.#learn(await this.#control.call('environment.restore', input, { signal }))
  }

  /** Makes new environments that continue from here. This one continues too. */
  async fork(count = 1, options: LiveForkOptions = {}): Promise<Forks> {
    const { signal, idempotencyKey, ...wanted } = checked('fork', liveForkInput, options)
    const input = { id: this.id, count, ...wanted }
    const call = { signal, idempotencyKey }
    return forksOf(this.#handles, await this.#control.call('environment.fork', input, call))
  }

  /** Becomes what another environment or a snapshot is: the branch to keep. `force` as in `restore`. */
  async promote(from: Environment | Snapshot, options: RestoreOptions = {}): Promise<void> {
    const { signal, ...wanted } = checked('promote', restoreInput, options)
    const input = { id: this.id, from: idOf('promote', from), ...wanted }
    this.#learn(await this.#control.call('environment.promote', input, { signal }))
  }

  /**
   * How the files of another environment or snapshot differ from the files here; without one, what
   * changed here since the last snapshot.
   *
   * @example
   * const { changes, patch } = await env.diff(undefined, { patch: 'text' })
   */
  async diff(to?: Environment | Snapshot, options: DiffOptions = {}): Promise<FilesDiff> {
    return await diffOf(this.#handles, this.id, to, options)
  }

  /**
   * Copies the current directory of the shell `main`, or what you name, into a new directory on the caller's
   * machine.
   *
   * @example
   * const { entries, bytes } = await env.export('./result', { path: '/app', exclude: ['node_modules'] })
   */
  async export(dir: string, options: ExportOptions = {}): Promise<CopyReport> {
    return await exportTo(this.#handles, this.id, dir, options, () => this.#currentDirectory())
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
    const info = await this.#ask()
    return await applyOnto(this.#handles, info, dir, options, () => this.#currentDirectory())
  }

  /** Its operations, oldest first, with the time that each step took. */
  async log(options: CallOptions = {}): Promise<readonly LogEntry[]> {
    const call = checked('log', callInput, options)
    return await this.#control.call('environment.log', { reference: this.id }, call)
  }

  /**
   * Sets labels. The others stay, and null removes one.
   *
   * @example
   * await env.label({ stage: 'tested', draft: null })
   */
  async label(labels: Readonly<Record<string, string | null>>): Promise<void> {
    const input = { id: this.id, labels: checked('label', labelChanges, labels) }
    this.#learn(await this.#control.call('environment.label', input))
  }

  async rename(name: string, options: CallOptions = {}): Promise<void> {
    const input = { id: this.id, name: checked('rename', e.name, name) }
    const call = checked('rename', callInput, options)
    this.#learn(await this.#control.call('environment.rename', input, call))
  }

  /** Ends it and removes everything it has. Its snapshots stay. `force` as in `restore`. */
  async remove(options: EndOptions = {}): Promise<void> {
    const { signal, ...wanted } = checked('remove', endInput, options)
    await this.#control.call('environment.remove', { id: this.id, ...wanted }, { signal })
  }

  get #control() {
    return this.#handles.control
  }

  #learn(info: EnvironmentInfo): EnvironmentInfo {
    this.#info = info
    return info
  }

  #followed(first: Awaited<ReturnType<typeof attachCommand>>): Command {
    return new Command(first, (id, offsets) => this.#attach(id, offsets))
  }

  /** Where the shell `main` is; the working directory if it has not started, or nothing runs. */
  async #currentDirectory(): Promise<string> {
    const { status, workdir } = await this.#ask()
    if (status !== 'running') return workdir
    const shells = await listShells(await this.#connect())
    return shells.find(({ shell }) => shell === 'main')?.cwd ?? workdir
  }

  async #noteCopy(copy: Copied): Promise<void> {
    this.#learn(await this.#control.call('environment.noteCopy', { id: this.id, ...copy }))
  }

  async #attach(id: string, offsets: CommandOffsets) {
    return await attachCommand(await this.#connect(), id, offsets)
  }

  async #ask(call?: CallOptions): Promise<EnvironmentInfo> {
    return this.#learn(await this.#control.call('environment.get', { reference: this.id }, call))
  }

  /** Brings it back if it sleeps and may be woken. Throws for any other that is not running. */
  async #awake(): Promise<EnvironmentInfo> {
    const info = await this.#ask()
    if (info.status === 'running') return info
    if (info.status !== 'paused' && info.status !== 'released') throw notRunning(info)
    return this.#learn(await this.#control.call('environment.wake', { id: this.id }))
  }

  /** Throws if the environment is not running, instead of waiting for an agent that cannot answer. */
  async #connect(needed?: Capability): Promise<AgentConnection> {
    const info = await this.#awake()
    const isSupported = needed === undefined || info.capabilities.includes(needed)
    if (!isSupported) throw unsupported(info.backend, needed)
    return await this.#handles.connections.to(info)
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
