import type { EndOptions } from '../../../index.ts'
import { addExamples, envArgument, forceHelp, snapshotArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { restoreReport, restoring } from '../../render/branch-reports.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Return an environment to a snapshot, in place. Its current state is lost.')
      .argument('<env>', envArgument)
      .argument('<snapshot>', snapshotArgument)
      .option('--force', forceHelp)
      .action((reference: string, wanted: string, { force = false }: EndOptions, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const snapshot = await forkpoint.snapshot(wanted)
          await context.wait(restoring(reference), () => environment.restore(snapshot, { force }))
          await context.show(restoreReport(environment.lastInfo, snapshot))
        }),
      ),
    [['forkpoint restore web ready', 'back to the snapshot "ready"']],
  )
