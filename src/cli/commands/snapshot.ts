import { Option } from 'commander'
import type { SnapshotOptions } from '../../index.ts'
import type { Json } from '../../model/environment.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/quote.ts'
import { addExamples, envArgument } from '../help.ts'
import { Interrupts } from '../interrupts.ts'
import type { MakeCommand } from '../make-command.ts'
import { pairsOption, parsedOption } from '../options.ts'
import { labelOf } from '../render/environment.ts'
import { taken } from '../render/sentences.ts'
import { snapshotInBackground } from '../snapshot-in-background.ts'

interface Options {
  readonly name?: string
  readonly message?: string
  readonly mode?: 'full' | 'filesystem'
  readonly label?: Readonly<Record<string, string>>
  readonly metadata?: Json
  readonly durable?: true
  readonly wait: boolean
  readonly quiet?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Takes a snapshot of files, processes and terminals together. The environment goes on.',
      )
      .argument('<env>', envArgument)
      .option('--name <name>', 'what to call it; unique')
      .option('-m, --message <text>', 'what it is, for people')
      .addOption(
        new Option('--mode <mode>', 'what to take; default: full').choices(['full', 'filesystem']),
      )
      .addOption(pairsOption('--label <key=value>', 'a label to find it by'))
      .addOption(parsedOption('--metadata <json>', 'anything to keep with it', parseJson))
      .option('--no-wait', 'return at once; another process takes it meanwhile')
      .option('--durable', 'say so only when it is on disk and would survive a power cut')
      .option('-q, --quiet', 'print only the id')
      .action((reference: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          using interrupts = new Interrupts()
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const info = options.wait
            ? await context.wait(`taking a snapshot of ${reference}`, async () => {
                const wanted = snapshotOptions(options, interrupts.signal)
                return (await environment.snapshot(wanted)).info
              })
            : await snapshotInBackground(forkpoint, environment)
          const text = info.status === 'ready' ? taken(info) : `taking snapshot ${labelOf(info)}`
          await context.show({ json: info, text: () => (options.quiet ? info.id : text) })
        }),
      ),
    [
      ['forkpoint snapshot web --name ready -m "dependencies installed"', 'a moment to return to'],
      ['id=$(forkpoint snapshot web -q)', 'for a script'],
      ['forkpoint snapshot web --mode filesystem', 'files only; processes are left alone'],
    ],
  )

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw new InvalidInputError(`not JSON: ${quote(text)}`, {
      remedy: 'such as \'{"score": 0.9}\', in quotes of the shell',
      cause: error,
    })
  }
}

function snapshotOptions(options: Options, signal: AbortSignal): SnapshotOptions {
  const { name, message, mode, label, metadata, durable } = options
  return {
    signal,
    ...(name !== undefined && { name }),
    ...(message !== undefined && { message }),
    ...(mode !== undefined && { mode }),
    ...(label !== undefined && { labels: label }),
    ...(metadata !== undefined && { metadata }),
    ...(durable !== undefined && { durable }),
  }
}
