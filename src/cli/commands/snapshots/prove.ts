import { addExamples, snapshotArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { labelOf } from '../../render/environment.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Make sure that a snapshot can be restored: make a copy that never runs, and end it.',
      )
      .argument('<snapshot>', snapshotArgument)
      .action((reference: string, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const snapshot = await forkpoint.snapshot(reference)
          await context.wait(`proving ${reference}`, () => snapshot.prove())
          const { lastInfo: info } = snapshot
          await context.show({ json: info, text: () => `${labelOf(info)} can be restored` })
        }),
      ),
    [['forkpoint prove ready', 'before you rely on it']],
  )
