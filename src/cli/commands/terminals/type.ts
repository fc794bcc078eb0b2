import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'

interface Options {
  readonly enter: boolean
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Type into a terminal of an environment, and press Enter.')
      .argument('<env>', envArgument)
      .argument('<terminal>', 'which one; the first use starts it')
      .argument('<text...>', 'what to type; several words are typed with a blank between them')
      .option('--no-enter', 'do not press Enter')
      .action((reference: string, name: string, words: string[], { enter }: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          await environment.terminal(name).write(words.join(' ') + (enter ? '\r' : ''))
          await context.show({
            json: { id: environment.id, name: environment.name, terminal: name },
            text: () => '',
          })
        }),
      ),
    [
      ["forkpoint type web main 'make test'", 'run a command on the terminal "main"'],
      ["forkpoint type web main --no-enter ':wq'", 'only these characters'],
    ],
  )
