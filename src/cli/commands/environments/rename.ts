import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { labelOf } from '../../render/environment.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Rename an environment. Its id and hostname stay the same.')
      .argument('<env>', envArgument)
      .argument('<name>', 'the new name; unique')
      .action((reference: string, name: string, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          await environment.rename(name)
          const { lastInfo: info } = environment
          await context.show({ json: info, text: () => `renamed to ${labelOf(info)}` })
        }),
      ),
    [['forkpoint rename try-3 best', 'keep the third try under a better name']],
  )
