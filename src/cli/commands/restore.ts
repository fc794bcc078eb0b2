import { addExamples, envArgument, snapshotArgument } from '../help.ts'
import type { MakeCommand } from '../make-command.ts'
import { restored } from '../render/sentences.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Makes an environment what a snapshot holds, in place. What it was until now is given up.',
      )
      .argument('<env>', envArgument)
      .argument('<snapshot>', snapshotArgument)
      .action((reference: string, wanted: string, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const snapshot = await forkpoint.snapshot(wanted)
          await context.wait(`restoring ${reference}`, () => environment.restore(snapshot))
          const { info } = environment
          await context.show({
            json: info,
            text: () => restored(info, snapshot),
          })
        }),
      ),
    [['forkpoint restore web ready', 'back to the snapshot "ready"']],
  )
