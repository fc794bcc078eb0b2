import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Show what a person would see on a terminal of an environment now.')
      .argument('<env>', envArgument)
      .argument('[terminal]', 'which one', 'main')
      .action((reference: string, name: string, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const screen = await environment.terminal(name).screen()
          await context.show({ json: screen, text: () => screen.lines.join('\n').trimEnd() })
        }),
      ),
    [['forkpoint screen web main', 'the screen of the terminal "main"']],
  )
