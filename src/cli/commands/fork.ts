import { parseCount } from '../../model/quantities.ts'
import { addExamples, branchArgument } from '../help.ts'
import type { MakeCommand } from '../make-command.ts'
import { pairsOption, parsedOption } from '../options.ts'
import { forked } from '../render/sentences.ts'

interface Options {
  readonly count?: number
  readonly name?: string
  readonly label?: Readonly<Record<string, string>>
  readonly quiet?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Makes new environments that go on from a snapshot, or from where an environment is now.',
      )
      .argument('<env|snapshot>', branchArgument)
      .addOption(parsedOption('-n, --count <n>', 'how many; default: 1', parseCount))
      .option('--name <name>', 'the name of one fork; of several the prefix: name-1, name-2, …')
      .addOption(pairsOption('--label <key=value>', 'a label to find them by'))
      .option('-q, --quiet', 'print only the ids')
      .action((reference: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const from = await forkpoint.find(reference)
          const { count = 1, name, label } = options
          const forks = await context.wait(`forking ${reference}`, () =>
            from.fork(count, {
              ...(name !== undefined && { name }),
              ...(label !== undefined && { labels: label }),
            }),
          )
          const infos = forks.map(({ info }) => info)
          await context.show({
            json: infos,
            text: () => (options.quiet ? infos.map(({ id }) => id).join('\n') : forked(infos)),
          })
        }),
      ),
    [
      ['forkpoint fork ready -n 3 --name try', 'try-1, try-2 and try-3, from the snapshot "ready"'],
      ['forkpoint fork web', 'another one of what is running now'],
      ['for e in $(forkpoint fork ready -n 3 -q); do …; done', 'for a script'],
    ],
  )
