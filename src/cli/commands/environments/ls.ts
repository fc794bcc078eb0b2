import { pairsOption } from '../../arguments/options.ts'
import { addExamples } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { environmentTable } from '../../render/environment.ts'

interface Options {
  readonly label?: Readonly<Record<string, string>>
  readonly quiet?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('List the environments of this home, oldest first.')
      .addOption(pairsOption('--label <key=value>', 'only those with this label'))
      .option('-q, --quiet', 'print only the ids')
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environments = await forkpoint.list({ labels: options.label ?? {} })
          const infos = environments.map(({ lastInfo: info }) => info)
          await context.show({
            json: infos,
            text: (style) => {
              if (options.quiet) return infos.map(({ id }) => id).join('\n')
              if (infos.length > 0) return environmentTable(infos, Date.now(), style)
              return style.faint('no environments; `forkpoint create` makes one')
            },
          })
        }),
      ),
    [
      ['forkpoint ls', 'all environments'],
      ['forkpoint ls --json | jq -r \'.[] | select(.status == "paused").id\'', 'the paused ones'],
      ['forkpoint ls --label task=42', 'those of one task'],
    ],
  )
