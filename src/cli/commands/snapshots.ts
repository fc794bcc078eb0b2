import type { SnapshotFilter } from '../../index.ts'
import { addExamples } from '../help.ts'
import type { MakeCommand } from '../make-command.ts'
import { pairsOption } from '../options.ts'
import { snapshotTable } from '../render/snapshot.ts'

interface Options {
  readonly env?: string
  readonly name?: string
  readonly label?: Readonly<Record<string, string>>
  readonly quiet?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Lists snapshots, oldest first.')
      .option('--env <env>', 'only those taken of this environment')
      .option('--name <name>', 'only the one of this name')
      .addOption(pairsOption('--label <key=value>', 'only those with this label'))
      .option('-q, --quiet', 'print only the ids')
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const snapshots = await forkpoint.snapshots(filterOf(options))
          const environments = await forkpoint.list()
          const names = new Map(environments.map(({ id, name }) => [id, name]))
          const infos = snapshots.map(({ info }) => ({
            ...info,
            environment: names.get(info.environmentId) ?? null,
          }))
          await context.show({
            json: infos,
            text: (style) => {
              if (options.quiet) return infos.map(({ id }) => id).join('\n')
              if (infos.length > 0) return snapshotTable(infos, Date.now(), style)
              return style.faint('no snapshots; `forkpoint snapshot ENV` takes one')
            },
          })
        }),
      ),
    [
      ['forkpoint snapshots --env web', 'what there is of one environment'],
      ["forkpoint snapshots --json | jq '.[] | {id, metadata}'", 'with what you kept with them'],
      ['forkpoint rm-snapshot $(forkpoint snapshots -q --label task=42)', 'remove those of a task'],
    ],
  )

function filterOf({ env, name, label }: Options): SnapshotFilter {
  return {
    ...(env !== undefined && { environment: env }),
    ...(name !== undefined && { name }),
    ...(label !== undefined && { labels: label }),
  }
}
