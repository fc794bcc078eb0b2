import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PrerequisiteError } from '../../../model/errors.ts'
import { loadGlobalSettings } from '../../arguments/globals.ts'
import type { Context } from '../../context.ts'
import { addExamples } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { packageScript } from '../../package-root.ts'
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
          if (options.fix) await bootstrap(context)
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

async function bootstrap(context: Context): Promise<void> {
  const { runtime } = loadGlobalSettings(context.globals).settings
  const script = packageScript('bootstrap')
  // Its progress goes to stderr: stdout is for the one document.
  const child = spawn(script, allSteps, {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, FORKPOINT_RUNTIME: runtime },
  })
  const [code, signal] = await once(child, 'exit')
  if (code === 0) return
  throw new PrerequisiteError(`${script} failed (${signal ?? `exit code ${code}`})`, {
    remedy: 'follow its messages above, then try again',
  })
}
