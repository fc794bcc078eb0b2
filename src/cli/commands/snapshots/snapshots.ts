import type { SnapshotFilter } from '../../../index.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { pairsOption } from '../../arguments/options.ts'
import { addExamples } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { snapshotTable } from '../../render/snapshot.ts'

interface Options {
  readonly env?: string
  readonly name?: string
  readonly label?: Readonly<Record<string, string>>
  readonly quiet?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('List snapshots, oldest first.')
      .option('--env <env>', 'only snapshots of this environment')
      .option('--name <name>', 'only the snapshot with this name')
      .addOption(pairsOption('--label <key=value>', 'only those with this label'))
      .option('-q, --quiet', 'print only the ids')
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const snapshots = await forkpoint.snapshots(filterOf(options))
          const environments = await forkpoint.list()
          const names = new Map(environments.map(({ id, name }) => [id, name]))
          const infos = snapshots.map(({ lastInfo: info }) => ({
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
      ['forkpoint snapshots --env web', 'the snapshots of one environment'],
      ["forkpoint snapshots --json | jq '.[] | {id, metadata}'", 'with their metadata'],
      ['forkpoint snapshots --label task=42', 'those of one task'],
    ],
  )

function filterOf({ env, name, label }: Options): SnapshotFilter {
  return withoutUndefined({ environment: env, name, labels: label })
}
