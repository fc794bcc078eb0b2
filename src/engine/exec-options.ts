import type { CommandSpec } from '../agent/commands/command-spec.ts'
import type { ExecResult as AgentResult, ExecInput } from '../agent/commands/exec.ts'
import { InvalidInputError } from '../model/errors.ts'
import { checked } from './inputs/checked.ts'
import { commandInput } from './inputs/environment-inputs.ts'

export interface ExecOptions {
  /** `shell` (default): in a persistent shell, whose state stays. `process`: a fresh process. */
  readonly mode?: 'shell' | 'process'
  /** which persistent shell; default `main` */
  readonly shell?: string
  /** for this command only */
  readonly cwd?: string
  /** for this command only */
  readonly env?: Readonly<Record<string, string>>
  /** name or uid, either with `:group`; in process mode */
  readonly user?: string
  /** text, bytes or a stream of them; default: an empty stdin */
  readonly stdin?: ExecInput
  /** after which the command, not the shell, is ended */
  readonly timeoutMs?: number
  /** called with each chunk; the command waits for the promise it returns */
  readonly onStdout?: (chunk: Buffer) => void | Promise<void>
  readonly onStderr?: (chunk: Buffer) => void | Promise<void>
  /** ends the command */
  readonly signal?: AbortSignal
}

export type SpawnOptions = Omit<ExecOptions, 'onStdout' | 'onStderr' | 'stdin'> & {
  /** `streamed`: the handle's `writeStdin` and `endStdin` feed it; default: an empty stdin */
  readonly stdin?: 'none' | 'streamed'
  /** to find it again by; made up if absent */
  readonly id?: string
}

export interface ExecResult {
  /** null if a signal ended it */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** as UTF-8 text; empty if `onStdout` took it. More than 64 MiB of either is refused: stream it */
  readonly stdout: string
  readonly stderr: string
  /** the same as bytes */
  readonly raw: { readonly stdout: Buffer; readonly stderr: Buffer }
  readonly timedOut: boolean
  /** the shell itself ended with this command; the next one finds a fresh shell */
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
    if (shell !== undefined)
      throw unfit('shell', 'a process runs in no shell; leave out one of them')
    return { ...common, mode, user }
  }
  if (user !== undefined)
    throw unfit(
      'user',
      'a shell keeps its user; run a process instead (mode: "process", or --process)',
    )
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
