import { BackendError, PrerequisiteError } from '../model/errors.ts'
import { type Ended, keeperRun } from './keeper.ts'

export interface ToolOptions {
  readonly input?: string | Buffer
  /** kills the program */
  readonly signal?: AbortSignal | undefined
}

const cannotRun = 127
/** There may also be too many words for it. */
const isMissing =
  /^cannot run .*: (No such file or directory|Permission denied|Exec format error)$/m

/** Runs a program to its end, without a shell; never throws on its exit code. */
export async function runTool(
  program: string,
  args: readonly string[],
  options: ToolOptions = {},
): Promise<Ended> {
  const ended = await keeperRun([program, ...args], options)
  if (ended.exitCode === cannotRun && isMissing.test(ended.stderr)) {
    throw new PrerequisiteError(ended.stderr.trim(), {
      remedy: 'run `forkpoint doctor --fix`, which installs what is missing',
    })
  }
  return ended
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
