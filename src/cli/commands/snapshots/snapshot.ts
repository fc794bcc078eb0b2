import { Option } from 'commander'
import type { SnapshotOptions } from '../../../index.ts'
import type { Json } from '../../../model/environment.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { pairsOption, parsedOption } from '../../arguments/options.ts'
import { addExamples, envArgument, strictHelp } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { snapshotReport, taking } from '../../render/branch-reports.ts'
import { snapshotInBackground } from '../../snapshot-in-background.ts'
import { cancelling, snapshotWords } from '../../waiting/cancelling.ts'
import { followSnapshot } from '../../waiting/follow-snapshot.ts'

interface Options {
  readonly name?: string
  readonly message?: string
  readonly mode?: 'full' | 'filesystem'
  readonly label?: Readonly<Record<string, string>>
  readonly metadata?: Json
  readonly durable?: true
  readonly live?: boolean
  readonly prove?: true
  readonly strict?: true
  readonly wait: boolean
  readonly quiet?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Take a snapshot of files, processes and terminals together. The environment continues.',
      )
      .argument('<env>', envArgument)
      .option('--name <name>', 'its name; unique')
      .option('-m, --message <text>', 'a note for people')
      .addOption(
        new Option('--mode <mode>', 'what to capture; default: full').choices([
          'full',
          'filesystem',
        ]),
      )
      .addOption(pairsOption('--label <key=value>', 'a label to find it by'))
      .addOption(parsedOption('--metadata <json>', 'any JSON to keep with it', parseJson))
      .option('--no-wait', 'return immediately; another process takes the snapshot')
      .option('--durable', 'return only when it is on disk and would survive a power cut')
      .option('--live', 'copy memory while it runs; default: if much of it is new')
      .option('--no-live', 'copy all memory in one stop')
      .option('--prove', 'return only when a copy has shown that it can be restored')
      .option('--strict', strictHelp)
      .option('-q, --quiet', 'print only the id')
      .action((reference: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const { stderr } = context.streams
          const take = () =>
            context.wait(taking(reference), async (say) => {
              using _following = followSnapshot(environment.id, say, taking(reference), () =>
                forkpoint.operations(),
              )
              const wanted = snapshotOptions(options, interrupts.signal)
              const snapshot = await environment.snapshot(wanted)
              return (options.prove ? await snapshot.prove() : snapshot).lastInfo
            })
          const info = options.wait
            ? await cancelling(interrupts, stderr, snapshotWords(reference), take)
            : await snapshotInBackground(forkpoint, environment)
          await context.show(snapshotReport(info, options.quiet ? 'ids' : 'sentences'))
        }),
      ),
    [
      ['forkpoint snapshot web --name ready -m "dependencies installed"', 'a state to return to'],
      ['id=$(forkpoint snapshot web -q)', 'for a script'],
      ['forkpoint snapshot web --mode filesystem', 'files only; processes are left alone'],
    ],
  )

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw new InvalidInputError(`not JSON: ${quote(text)}`, {
      remedy: 'write JSON in single quotes, such as \'{"score": 0.9}\'',
      cause: error,
    })
  }
}

function snapshotOptions(options: Options, signal: AbortSignal): SnapshotOptions {
  const { label: labels, name, message, mode, metadata, durable, live, strict } = options
  const wanted = { name, message, mode, labels, metadata, durable, live, strict }
  return withoutUndefined({ signal, ...wanted })
}
