import { BackendError, PrerequisiteError } from '../model/errors.ts'
import { nativeProgram } from './native-program.ts'
import type { RunOptions, Spawner, Talk } from './spawner.ts'
import type { Ended } from './spawner-wire.ts'

/** Runs programs to completion, without a shell. */
export interface Tools {
  /** Does not fail on a nonzero exit code. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<Ended>
  /** Fails on a nonzero exit code, with what was being done and the end of stderr. */
  mustRun(
    doing: string,
    program: string,
    args: readonly string[],
    options?: RunOptions,
  ): Promise<string>
  /** The same for a verb of `native/cell`. */
  runCell(doing: string, args: readonly string[], options?: RunOptions): Promise<string>
  /** Starts a verb of `native/cell` that says a line and then waits. */
  talkToCell(args: readonly string[]): Promise<Talk>
}

export function toolsOf(spawner: Pick<Spawner, 'run' | 'talk'>): Tools {
  const run: Tools['run'] = async (program, args, options) => {
    const ended = await spawner.run([program, ...args], options)
    requireInstalled(ended)
    return ended
  }
  const mustRun: Tools['mustRun'] = async (doing, program, args, options) => {
    const ended = await run(program, args, options)
    if (ended.exitCode === 0) return ended.stdout
    throw failure(doing, [program, ...args], ended)
  }
  return {
    run,
    mustRun,
    runCell: (doing, args, options) => mustRun(doing, nativeProgram('cell'), args, options),
    talkToCell: (args) => spawner.talk([nativeProgram('cell'), ...args]),
  }
}

const cannotRun = 127
/** Other reasons exist, such as too many arguments. */
const isMissing =
  /^cannot run .*: (No such file or directory|Permission denied|Exec format error)$/m

function requireInstalled({ exitCode, stderr }: Ended): void {
  if (exitCode !== cannotRun || !isMissing.test(stderr)) return
  throw new PrerequisiteError(stderr.trim(), {
    remedy: 'run `forkpoint doctor --fix`, which installs what is missing',
  })
}

function failure(doing: string, [program = '', ...args]: string[], ended: Ended): BackendError {
  const { exitCode, signal, stderr } = ended
  return new BackendError(`${doing} failed: ${lastLine(stderr) || `${program} said nothing`}`, {
    lastWords: stderr.trim().split('\n').slice(-5).join('\n'),
    remedy: 'run `forkpoint doctor` to see what this machine lacks',
    detail: { program, args, exitCode, signal },
  })
}

/** nft reports the error first, and then shows where it is. */
function lastLine(text: string): string {
  const lines = text.trim().split('\n')
  return lines.findLast((line) => /\berror\b/i.test(line)) ?? lines.at(-1) ?? ''
}
