import { bootstrap } from '../../bootstrap.ts'
import { addExamples } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { renderChecks } from '../../render/checks.ts'

interface Options {
  readonly fix?: true
}

const prerequisiteMissing = 6
/** What every backend needs; the launcher fetches less. */
const allSteps = ['packages', 'node', 'criu', 'runsc', 'dependencies', 'native', 'dist']

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Check every prerequisite by really using it, and say how to get what is missing.',
      )
      .option('--fix', 'first install and build what is missing')
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          if (options.fix) await bootstrap(context, allSteps)
          const { Forkpoint } = await import('../../../index.ts')
          const found = await context.wait('probing this machine', () =>
            Forkpoint.doctor(context.openOptions),
          )
          await context.show({ json: found, text: (style) => renderChecks(found, style) })
          if (!found.ok) context.endWith(prerequisiteMissing)
        }),
      ),
    [
      ['forkpoint doctor', 'check this machine'],
      ['sudo forkpoint doctor --fix', 'install what is missing, then check'],
    ],
  )
