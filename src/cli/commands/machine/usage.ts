import { addExamples } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { renderUsage } from '../../render/usage.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Show disk usage of snapshots and environments: their own, shared and unique bytes.',
      )
      .action((_options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const usage = await context.wait('measuring', () => forkpoint.usage())
          await context.show({ json: usage, text: (style) => renderUsage(usage, style) })
        }),
      ),
    [['forkpoint usage', 'see what takes up the disk']],
  )
