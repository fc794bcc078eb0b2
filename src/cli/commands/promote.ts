import { addExamples, branchArgument, envArgument } from '../help.ts'
import type { MakeCommand } from '../make-command.ts'
import { promoted } from '../render/sentences.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Makes the state of one branch the state of another environment: keep the best one.',
      )
      .usage('[options] FROM INTO')
      .argument('<env|snapshot>', `the branch to keep: ${branchArgument}`)
      .argument('<env>', `the environment that becomes it: ${envArgument}`)
      .action((source: string, target: string, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const from = await forkpoint.find(source)
          const into = await forkpoint.get(target)
          await context.wait(`promoting ${source}`, () => into.promote(from))
          const { info } = into
          await context.show({
            json: info,
            text: () => promoted(from, info),
          })
        }),
      ),
    [
      ['forkpoint promote try-2 web', 'web goes on as try-2 is now; try-2 goes on, too'],
      ['forkpoint promote tested web', 'web becomes what the snapshot "tested" holds'],
    ],
  )
