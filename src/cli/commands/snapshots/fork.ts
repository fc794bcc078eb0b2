import { toJson } from '../../../model/errors.ts'
import { parseCount } from '../../../model/values/quantities.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { pairsOption, parsedOption } from '../../arguments/options.ts'
import { addExamples, branchArgument, strictHelp } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { forking, forkReport } from '../../render/branch-reports.ts'

interface Options {
  readonly count?: number
  readonly name?: string
  readonly label?: Readonly<Record<string, string>>
  readonly atomic?: true
  readonly strict?: true
  readonly quiet?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Create environments that continue from a snapshot, or from the present state of an environment.',
      )
      .argument('<env|snapshot>', branchArgument)
      .addOption(parsedOption('-n, --count <n>', 'how many; default: 1', parseCount))
      .option(
        '--name <name>',
        'the name of a single fork; for several, a prefix: name-1, name-2, …',
      )
      .addOption(pairsOption('--label <key=value>', 'a label to find them by'))
      .option('--atomic', 'all or none: if one fork fails, remove the others')
      .option('--strict', strictHelp)
      .option('-q, --quiet', 'print only the ids')
      .action((reference: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const from = await forkpoint.find(reference)
          const { count = 1, name, label, atomic = false, strict } = options
          const forks = await context.wait(forking(reference), () =>
            from.fork(count, withoutUndefined({ atomic, name, labels: label, strict })),
          )
          const infos = forks.map(({ lastInfo: info }) => info)
          const errors = forks.errors.map(toJson)
          const detail = options.quiet ? 'ids' : 'sentences'
          await context.show(forkReport(infos, errors, detail))
          if (errors.length > 0) context.endWith(1)
          for (const error of forks.errors) await context.report(error)
        }),
      ),
    [
      ['forkpoint fork ready -n 3 --name try', 'try-1, try-2 and try-3, from the snapshot "ready"'],
      ['forkpoint fork ready -n 8 --atomic', 'eight forks, or none'],
      ['forkpoint fork web', 'a copy of what is running now'],
      ['for e in $(forkpoint fork ready -n 3 -q); do …; done', 'for a script'],
    ],
  )
