import { Option } from 'commander'
import type { Environment, ForkOptions, Snapshot } from '../../../index.ts'
import { InvalidInputError, toJson } from '../../../model/errors.ts'
import { isSnapshotId } from '../../../model/ids.ts'
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
  readonly connections?: 'close' | 'keep'
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
      .addOption(
        new Option(
          '--connections <what>',
          'TCP connections to the outside: close them in the fork (default), or keep them there and ' +
            'close them in the original',
        ).choices(['close', 'keep']),
      )
      .option('--strict', strictHelp)
      .option('-q, --quiet', 'print only the ids')
      .action((reference: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const from = await forkpoint.find(reference)
          const { count = 1, name, label, atomic = false, strict, connections } = options
          const wanted = withoutUndefined({ atomic, name, labels: label, strict })
          const forks = await context.wait(forking(reference), () =>
            isSnapshot(from)
              ? from.fork(count, withoutConnections(wanted, connections))
              : from.fork(count, withoutUndefined({ ...wanted, connections })),
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
      ['forkpoint fork web --connections keep', 'the same, with its open connections'],
      ['for e in $(forkpoint fork ready -n 3 -q); do …; done', 'for a script'],
    ],
  )

/** What a snapshot holds of a connection is over: its other end has gone on with the original. */
function withoutConnections(options: ForkOptions, wanted: Options['connections']): ForkOptions {
  if (wanted !== 'keep') return options
  throw new InvalidInputError('a snapshot has no connections that a fork could keep', {
    remedy: 'fork the environment that has them',
  })
}

function isSnapshot(from: Environment | Snapshot): from is Snapshot {
  return isSnapshotId(from.id)
}
