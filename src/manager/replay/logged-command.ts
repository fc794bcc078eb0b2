import { createHash } from 'node:crypto'
import * as z from 'zod/mini'
import type { ExecOptions, ExecResult } from '../../api/handles/exec-options.ts'

const words = z.array(z.string())

/** The options that make a difference when the command runs again. */
const replayedOptions = z.object({
  mode: z.exactOptional(z.enum(['shell', 'detached', 'process'])),
  shell: z.exactOptional(z.string()),
  cwd: z.exactOptional(z.string()),
  env: z.exactOptional(z.record(z.string(), z.string())),
  user: z.exactOptional(z.string()),
  stdin: z.exactOptional(z.string()),
})

export const loggedCommand = z.object({
  command: z.union([z.string(), words]),
  options: replayedOptions,
  exitCode: z.nullable(z.number()),
  signal: z.nullable(z.string()),
  /** SHA-256 of what it printed */
  stdout: z.string(),
  stderr: z.string(),
  durationMs: z.number(),
})

/** A command that ran, and what shows that it did the same when it runs again. */
export interface LoggedCommand {
  readonly command: string | readonly string[]
  readonly options: ReplayedOptions
  readonly exitCode: number | null
  readonly signal: string | null
  /** SHA-256 of what it printed */
  readonly stdout: string
  readonly stderr: string
  readonly durationMs: number
}

export type ReplayedOptions = Pick<ExecOptions, 'mode' | 'shell' | 'cwd' | 'env' | 'user'> & {
  readonly stdin?: string
}

/** Why a command cannot be repeated later; null if it can. */
export function whyNotLogged(options: ExecOptions, result: ExecResult): string | null {
  if (options.stdin !== undefined && typeof options.stdin !== 'string') {
    return 'a command read a stdin that is not text'
  }
  if (options.onStdout !== undefined || options.onStderr !== undefined) {
    return 'the output of a command was streamed'
  }
  if (result.timedOut || options.signal?.aborted === true) return 'a command was cut short'
  return null
}

export function logged(
  command: string | readonly string[],
  { mode, shell, cwd, env, user, stdin }: ExecOptions,
  result: ExecResult,
): LoggedCommand {
  const options: Record<string, unknown> = { mode, shell, cwd, env, user, stdin }
  return {
    command: typeof command === 'string' ? command : [...command],
    options: replayedOptions.parse(
      Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    ),
    exitCode: result.exitCode,
    signal: result.signal,
    stdout: digestOf(result.raw.stdout),
    stderr: digestOf(result.raw.stderr),
    durationMs: result.durationMs,
  }
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** How a repeated command differs from what it did before; null if it does not. */
export function differenceOf(before: LoggedCommand, now: ExecResult): string | null {
  if (now.timedOut) return 'it took far longer than before'
  if (now.exitCode !== before.exitCode || now.signal !== before.signal) {
    return `it ended with ${ending(now)} instead of ${ending(before)}`
  }
  if (digestOf(now.raw.stdout) !== before.stdout) return 'it printed something else on stdout'
  if (digestOf(now.raw.stderr) !== before.stderr) return 'it printed something else on stderr'
  return null
}

function ending({ exitCode, signal }: Pick<LoggedCommand, 'exitCode' | 'signal'>): string {
  return exitCode === null ? `signal ${signal}` : `exit code ${exitCode}`
}

/** The time that replaying these takes, as far as it is known. */
export function replayMsOf(commands: readonly LoggedCommand[]): number {
  return commands.reduce((sum, { durationMs }) => sum + durationMs, 0)
}
