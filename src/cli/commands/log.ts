import { addExamples, envArgument } from '../help.ts'
import type { MakeCommand } from '../make-command.ts'
import { renderLog } from '../render/log.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Shows all that was done with an environment: steps, times and bytes.')
      .argument('<env>', envArgument)
      .action((reference: string, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const entries = await (await forkpoint.get(reference)).log()
          await context.show({
            json: entries,
            text: (style) => renderLog(entries, Date.now(), style),
          })
        }),
      ),
    [
      ['forkpoint log web', 'what happened, and how long it took'],
      ['forkpoint log web --json | jq \'.[] | select(.state == "failed")\'', 'what did not work'],
    ],
  )
