import type { EndOptions } from '../../../index.ts'
import { addExamples, branchArgument, envArgument, forceHelp } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { promoted } from '../../render/layout/sentences.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Make an environment what another environment or a snapshot is: keep the best branch.',
      )
      .usage('[options] FROM INTO')
      .argument('<env|snapshot>', `the branch to keep: ${branchArgument}`)
      .argument('<env>', `the environment that becomes it: ${envArgument}`)
      .option('--force', forceHelp)
      .action((source: string, target: string, { force = false }: EndOptions, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const from = await forkpoint.find(source)
          const into = await forkpoint.get(target)
          await context.wait(`promoting ${source}`, () => into.promote(from, { force }))
          const { lastInfo: info } = into
          await context.show({
            json: info,
            text: () => promoted(from, info),
          })
        }),
      ),
    [
      ['forkpoint promote try-2 web', 'web becomes what try-2 is now; try-2 also continues'],
      ['forkpoint promote tested web', 'web becomes what the snapshot "tested" holds'],
    ],
  )
