import {
  attachCommand,
  type CommandInfo,
  type CommandOffsets,
  listCommands,
  signalCommand,
  startCommand,
} from '../../../agent/commands/commands.ts'
import { type ExecSpec, execCommand } from '../../../agent/commands/exec.ts'
import { reportWait } from '../../../agent/commands/turn.ts'
import { closeShell, listShells, type ShellInfo } from '../../../agent/environment.ts'
import { listProcesses, type ProcessInfo } from '../../../agent/processes.ts'
import { listTerminals, type TerminalInfo } from '../../../agent/terminals/terminals.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { checked, type Given } from '../../inputs/checked.ts'
import {
  execInput,
  followInput,
  killInput,
  listCommandsInput,
  spawnInput,
} from '../../inputs/exec-inputs.ts'
import { word } from '../../inputs/values.ts'
import { Command } from '../command.ts'
import {
  type ExecOptions,
  type ExecResult,
  execSpec,
  resultOf,
  type SpawnOptions,
} from '../exec-options.ts'
import { Terminal } from '../terminal.ts'
import { EnvironmentHandle } from './handle.ts'

export type FollowOptions = Given<typeof followInput>
export type KillOptions = Given<typeof killInput>
export type ListCommandsOptions = Given<typeof listCommandsInput>

/** What runs inside: commands and processes, shells and terminals. */
export abstract class EnvironmentCommands extends EnvironmentHandle {
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
    const spec = execSpec(command, rest, this.lastInfo.execTimeoutMs)
    const reconnect = () => this.connect()
    const heard = { onStdout, onStderr, onWait, onLeft }
    const listeners = { signal, abortWaitMs, ...heard, reconnect, isRemembered: true }
    const connection = await this.connect()
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
    const started = startCommand(await this.connect(), named)
    const connect = () => this.connect()
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
    const { entrypoint = [], command = [] } = this.lastInfo.image ?? {}
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
      await attachCommand(await this.connect(), each, offsets, { readAlong })
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
    return await listCommands(await this.connect(), wanted)
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
    await signalCommand(await this.connect(), command, name as NodeJS.Signals, { graceMs })
  }

  /** Every process inside, by pid. */
  async processes(): Promise<ProcessInfo[]> {
    return await listProcesses(await this.connect())
  }

  /** The terminal with this name; it starts when it is first used. */
  terminal(name = 'main'): Terminal {
    return new Terminal(checked('terminal', word, name), () => this.connect())
  }

  async terminals(): Promise<TerminalInfo[]> {
    return listTerminals(await this.connect())
  }

  /** The persistent shells that `exec` runs commands in. */
  async shells(): Promise<ShellInfo[]> {
    return listShells(await this.connect())
  }

  async closeShell(name: string): Promise<void> {
    await closeShell(await this.connect(), checked('closeShell', word, name))
  }

  /** Where the shell `main` is; the working directory if it has not started, or nothing runs. */
  protected async currentDirectory(): Promise<string> {
    const { status, workdir } = await this.ask()
    if (status !== 'running') return workdir
    const shells = await listShells(await this.connect())
    return shells.find(({ shell }) => shell === 'main')?.cwd ?? workdir
  }

  #followed(first: Awaited<ReturnType<typeof attachCommand>>): Command {
    return new Command(first, (id, offsets) => this.#attach(id, offsets))
  }

  async #attach(id: string, offsets: CommandOffsets) {
    return await attachCommand(await this.connect(), id, offsets)
  }
}
