import { CommanderError } from 'commander'
import { Cli, type Streams } from './cli.ts'
import { buildProgram, loadVerbs, mentionedVerbs } from './program.ts'
import { reportFailure } from './report-failure.ts'
import { usageError } from './usage-error.ts'

/** Runs one command line to its end; resolves to the exit code. */
export async function run(argv: readonly string[], streams: Streams = process): Promise<number> {
  // A failed write is told to whoever wrote; without a listener it would end the process as well.
  for (const stream of [streams.stdout, streams.stderr]) stream.on('error', () => {})
  const cli = new Cli(streams)
  const verbs = mentionedVerbs(argv)
  try {
    const program = buildProgram(cli, await loadVerbs(cli, verbs))
    await program.parseAsync([...argv], { from: 'user' })
    return cli.exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) return await reportFailure(cli, error, argv)
    // Help that was asked for and the version come as errors too; they were printed already.
    if (error.exitCode === 0) return 0
    if (error.code === 'commander.help') return 2
    return await reportFailure(cli, usageError(error, verbs[0]), argv)
  }
}
