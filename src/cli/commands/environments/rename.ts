import { addExamples, branchArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { labelOf } from '../../render/environment.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Rename an environment or a snapshot. Its id stays the same, and so does the hostname of an environment.',
      )
      .argument('<env|snapshot>', branchArgument)
      .argument('<name>', 'the new name; unique among environments and snapshots')
      .action((reference: string, name: string, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const found = await forkpoint.find(reference)
          await found.rename(name)
          const { lastInfo: info } = found
          await context.show({ json: info, text: () => `renamed to ${labelOf(info)}` })
        }),
      ),
    [
      ['forkpoint rename try-3 best', 'keep the third try under a better name'],
      ['forkpoint rename s4mv1svepadd ready', 'name a snapshot that has no name yet'],
    ],
  )
