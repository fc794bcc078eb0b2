import type { RestoreOptions } from '../../../index.ts'
import { addExamples, branchArgument, envArgument, forceHelp, strictHelp } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { lostOf, promoted } from '../../render/layout/sentences.ts'

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
      .option('--strict', strictHelp)
      .action((source: string, target: string, options: RestoreOptions, self) =>
        cli.perform(self, async (context) => {
          const { force = false, strict = false } = options
          await using forkpoint = await context.open()
          const from = await forkpoint.find(source)
          const into = await forkpoint.get(target)
          await context.wait(`promoting ${source}`, () => into.promote(from, { force, strict }))
          const { lastInfo: info } = into
          await context.show({
            json: info,
            text: () => [promoted(from, info), ...lostOf(info)].join('\n'),
          })
        }),
      ),
    [
      ['forkpoint promote try-2 web', 'web becomes what try-2 is now; try-2 also continues'],
      ['forkpoint promote tested web', 'web becomes what the snapshot "tested" holds'],
    ],
  )
