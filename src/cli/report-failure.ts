import { exitCodeOf, toJson } from '../model/errors.ts'
import type { ColorMode } from './arguments/globals.ts'
import type { Cli } from './cli.ts'
import { Interrupted, signalExitCode } from './interrupts.ts'
import { renderError, stackOf } from './render/error.ts'
import { styleFor } from './render/layout/style.ts'
import { isClosedPipe, say, writeJson } from './write.ts'

/** Reports the failure as text or JSON; resolves to the exit code. */
export async function reportFailure(
  cli: Cli,
  error: unknown,
  argv: readonly string[],
): Promise<number> {
  if (error instanceof Interrupted) return error.exitCode
  if (isClosedPipe(error)) return signalExitCode('SIGPIPE')
  const { stdout, stderr } = cli.streams
  try {
    // The command line itself may be wrong, so we do not parse it for this.
    if (ownArguments(argv).includes('--json') && !cli.hasWrittenDocument) {
      await writeJson(stdout, { error: toJson(error) })
    } else {
      const color = colorOf(argv)
      const style = styleFor(stderr, color === undefined ? {} : { color })
      await say(stderr, `${renderError(error, style)}\n`)
    }
    if (process.env.FORKPOINT_DEBUG) await say(stderr, `${stackOf(error)}\n`)
  } catch {
    // The output cannot be written; the exit code still reports the failure.
  }
  return exitCodeOf(error)
}

function ownArguments(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  return end === -1 ? argv : argv.slice(0, end)
}

function colorOf(argv: readonly string[]): ColorMode | undefined {
  const own = ownArguments(argv)
  const [, joined] =
    /^--color=(.*)$/.exec(own.find((word) => word.startsWith('--color=')) ?? '') ?? []
  const at = own.indexOf('--color')
  const value = joined ?? (at === -1 ? undefined : own[at + 1])
  return value === 'always' || value === 'never' || value === 'auto' ? value : undefined
}
