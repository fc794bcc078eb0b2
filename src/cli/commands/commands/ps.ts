import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { renderRunning } from '../../render/running.ts'

interface Options {
  readonly all?: true
  readonly quiet?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('List the commands and the processes of an environment.')
      .argument('<env>', envArgument)
      .option('-a, --all', 'also commands that have ended, of which the last 64 are known')
      .option('-q, --quiet', 'print only the ids of commands')
      .action((reference: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const [known, processes] = await Promise.all([
            environment.commands(),
            environment.processes(),
          ])
          const commands = options.all ? known : known.filter(({ running }) => running)
          await context.show({
            json: { commands, processes },
            text: (style) =>
              options.quiet
                ? commands.map(({ id }) => id).join('\n')
                : renderRunning({ commands, processes }, style),
          })
        }),
      ),
    [
      ['forkpoint ps web', 'what runs'],
      ['forkpoint ps web -a', 'and what ran'],
      ["forkpoint ps web --json | jq -r '.commands[].id'", 'for a script'],
    ],
  )
