import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { BackendError, PrerequisiteError } from '../../model/errors.ts'

const longestOutput = 64 * 1024

export interface ToolRun {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface ToolOptions {
  readonly input?: string
  /** variables beside our own */
  readonly env?: Readonly<Record<string, string>>
  /** kills the program */
  readonly signal?: AbortSignal | undefined
}

/** Runs a program to its end, without a shell; never throws on its exit code. */
export async function runTool(
  program: string,
  args: readonly string[],
  { input, env, signal: abort }: ToolOptions = {},
): Promise<ToolRun> {
  const child = spawn(program, args, {
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...(env && { env: { ...process.env, ...env } }),
  })
  const started = once(child, 'spawn')
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] = (output[name] + text).slice(-longestOutput)
    })
  }
  const ended = once(child, 'close')
  child.once('exit', (_code, signal) => {
    // Children of a program that was killed may live on and hold its output open for ever.
    if (signal !== null) for (const name of ['stdout', 'stderr'] as const) child[name]?.destroy()
  })
  try {
    await started
  } catch (error) {
    ended.catch(() => {})
    throw new PrerequisiteError(`cannot run ${program}: ${(error as Error).message}`, {
      remedy: 'run `forkpoint doctor --fix`, which installs what is missing',
      cause: error,
    })
  }
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const kill = () => child.kill('SIGKILL')
  abort?.addEventListener('abort', kill)
  const [exitCode, signal] = (await ended) as [number | null, NodeJS.Signals | null]
  abort?.removeEventListener('abort', kill)
  return { exitCode, signal, ...output }
}

/** The same, for a program whose failure is ours to report: what was being done, and its last words. */
export async function mustRun(
  doing: string,
  program: string,
  args: readonly string[],
  options: ToolOptions = {},
): Promise<string> {
  const run = await runTool(program, args, options)
  if (run.exitCode === 0) return run.stdout
  throw new BackendError(`${doing} failed: ${lastLine(run.stderr) || `${program} said nothing`}`, {
    lastWords: run.stderr.trim().split('\n').slice(-5).join('\n'),
    remedy: 'run `forkpoint doctor` to see what this machine lacks',
    detail: { program, args: [...args], exitCode: run.exitCode, signal: run.signal },
  })
}

/** nft says what is wrong first and then shows where. */
function lastLine(text: string): string {
  const lines = text.trim().split('\n')
  return lines.findLast((line) => /\berror\b/i.test(line)) ?? lines.at(-1) ?? ''
}
