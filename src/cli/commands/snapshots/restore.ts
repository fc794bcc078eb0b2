import type { RestoreOptions } from '../../../index.ts'
import { addExamples, envArgument, forceHelp, snapshotArgument, strictHelp } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { restoreReport, restoring } from '../../render/branch-reports.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Return an environment to a snapshot, in place. Its current state is lost.')
      .argument('<env>', envArgument)
      .argument('<snapshot>', snapshotArgument)
      .option('--force', forceHelp)
      .option('--strict', strictHelp)
      .action((reference: string, wanted: string, options: RestoreOptions, self) =>
        cli.perform(self, async (context) => {
          const { force = false, strict = false } = options
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const snapshot = await forkpoint.snapshot(wanted)
          await context.wait(restoring(reference), () =>
            environment.restore(snapshot, { force, strict }),
          )
          await context.show(restoreReport(environment.lastInfo, snapshot))
        }),
      ),
    [['forkpoint restore web ready', 'back to the snapshot "ready"']],
  )
