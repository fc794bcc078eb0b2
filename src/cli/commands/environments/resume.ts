import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { labelOf } from '../../render/environment.ts'
import { lostOf } from '../../render/layout/sentences.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Continue a paused environment where it was. One that was released or is dead comes back ' +
          'from its last snapshot.',
      )
      .argument('<env>', envArgument)
      .action((reference: string, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          await environment.resume()
          const { lastInfo: info } = environment
          await context.show({
            json: info,
            text: () => [`resumed ${labelOf(info)}`, ...lostOf(info)].join('\n'),
          })
        }),
      ),
    [['forkpoint resume web', 'continue']],
  )
