import { CommanderError } from 'commander'
import { usageError } from './arguments/usage-error.ts'
import { Cli } from './cli.ts'
import { buildProgram, loadVerbs, mentionedVerbs } from './program.ts'
import { reportFailure } from './report-failure.ts'
import type { Streams } from './streams.ts'

/** Runs one command line to its end; resolves to the exit code. */
export async function run(argv: readonly string[], streams: Streams = process): Promise<number> {
  // The writer gets the error of a failed write; without a listener it would also end the process.
  for (const stream of [streams.stdout, streams.stderr]) stream.on('error', () => {})
  const cli = new Cli(streams, argv)
  const verbs = mentionedVerbs(argv)
  try {
    const program = buildProgram(cli, await loadVerbs(cli, verbs))
    await program.parseAsync([...argv], { from: 'user' })
    return cli.exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) return await reportFailure(cli, error, argv)
    // Commander also throws for --help and --version, which it has already printed.
    if (error.exitCode === 0) return 0
    if (error.code === 'commander.help') return 2
    return await reportFailure(cli, usageError(error, verbs[0]), argv)
  }
}
