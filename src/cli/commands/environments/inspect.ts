import { addExamples, branchArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { inspectFacts } from '../../render/inspect.ts'
import { keyValues } from '../../render/layout/key-values.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Show everything about one environment or snapshot.')
      .argument('<env|snapshot>', branchArgument)
      .action((reference: string, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const info = await (await forkpoint.find(reference)).info()
          await context.show({
            json: info,
            text: (style) => keyValues(inspectFacts(info, Date.now()), style),
          })
        }),
      ),
    [
      ['forkpoint inspect web', 'its status, head, network, limits and policies'],
      ['forkpoint inspect ready', 'what a snapshot holds, and what it takes'],
      ['forkpoint inspect web --json | jq .capabilities', 'what can be done with it'],
    ],
  )
