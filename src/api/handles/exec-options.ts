import type { CommandSpec } from '../../agent/commands/command-spec.ts'
import type { CommandInfo } from '../../agent/commands/commands.ts'
import type { ExecResult as AgentResult, ExecInput } from '../../agent/commands/exec.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { checked } from '../inputs/checked.ts'
import { commandInput } from '../inputs/exec-inputs.ts'

export interface ExecOptions {
  /**
   * `shell` (default): in a persistent shell, which keeps its state and runs one command after the other.
   * `detached`: in a copy of that shell, with the same directory, variables and functions, which keeps
   * nothing and holds up nobody. `process`: in a new process
   */
  readonly mode?: 'shell' | 'detached' | 'process'
  /** which persistent shell; default `main` */
  readonly shell?: string
  /** for this command only */
  readonly cwd?: string
  /** for this command only */
  readonly env?: Readonly<Record<string, string>>
  /** name or uid, optionally with `:group`; only in process mode */
  readonly user?: string
  /** text, bytes or a stream of them; default: an empty stdin */
  readonly stdin?: ExecInput
  /** time limit, after which the command ends, but not the shell */
  readonly timeoutMs?: number
  /** called with each chunk; the command waits for the promise it returns */
  readonly onStdout?: (chunk: Buffer) => void | Promise<void>
  readonly onStderr?: (chunk: Buffer) => void | Promise<void>
  /**
   * called if the command still waits for its turn in the shell after a second, with the command that
   * runs there
   */
  readonly onWait?: (ahead: CommandInfo) => void
  /** ends the command: SIGINT, or SIGTERM for a process, and SIGKILL two seconds later */
  readonly signal?: AbortSignal
  /**
   * how long an abort waits for the command to end, while its last output still arrives; default: until it
   * was killed. After that the command is left to end by itself, or to be killed, and `onLeft` gets its id
   */
  readonly abortWaitMs?: number
  readonly onLeft?: (id: string) => void
}

export type SpawnOptions = Omit<
  ExecOptions,
  'onStdout' | 'onStderr' | 'stdin' | 'abortWaitMs' | 'onLeft'
> & {
  /** `streamed`: the handle's `writeStdin` and `endStdin` feed it; default: an empty stdin */
  readonly stdin?: 'none' | 'streamed'
  /** to find it again; made up if absent */
  readonly id?: string
}

export interface ExecResult {
  /** null if a signal ended the command */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** as UTF-8 text; empty if `onStdout` took it. Fails above 64 MiB: stream such output instead */
  readonly stdout: string
  readonly stderr: string
  /** the same as bytes */
  readonly raw: { readonly stdout: Buffer; readonly stderr: Buffer }
  readonly timedOut: boolean
  /** the shell itself ended with this command; the next command gets a new shell */
  readonly shellGone: boolean
  readonly durationMs: number
}

export function execSpec(
  command: string | readonly string[],
  options: ExecOptions,
  defaultTimeoutMs: number | null,
): CommandSpec {
  const {
    mode = 'shell',
    shell,
    user,
    cwd,
    env,
    timeoutMs = defaultTimeoutMs ?? undefined,
  } = options
  const common = { command: checked('command', commandInput, command), cwd, env, timeoutMs }
  if (mode === 'process') {
    if (shell !== undefined) {
      throw unfit('shell', 'leave out the shell or the process mode: a process runs in no shell')
    }
    return { ...common, mode, user }
  }
  if (user !== undefined) {
    throw unfit('user', 'run a process (mode: "process", or --process): a shell keeps its user')
  }
  return { ...common, mode, shell }
}

export function resultOf(result: AgentResult): ExecResult {
  const { stdout, stderr, ...rest } = result
  return {
    ...rest,
    stdout: stdout.toString('utf8'),
    stderr: stderr.toString('utf8'),
    raw: { stdout, stderr },
  }
}

function unfit(option: string, remedy: string): InvalidInputError {
  return new InvalidInputError(`the option ${option} does not fit this mode`, { remedy })
}
