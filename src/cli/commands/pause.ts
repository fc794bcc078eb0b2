import { addExamples, envArgument } from '../help.ts'
import type { MakeCommand } from '../make-command.ts'
import { labelOf } from '../render/environment.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Freezes every process of an environment; nothing inside notices.')
      .argument('<env>', envArgument)
      .action((reference: string, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          await environment.pause()
          const { info } = environment
          await context.show({ json: info, text: () => `paused ${labelOf(info)}` })
        }),
      ),
    [['forkpoint pause web', 'let the machine do something else meanwhile']],
  )
