import { readFile } from 'node:fs/promises'
import type { BackendName, EnvManager, Forkpoint } from '../../../index.ts'
import { deciderForms } from '../../../model/decider-forms.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { addExamples, envArgument } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'

interface Options {
  readonly backend?: BackendName
  readonly from?: string
  readonly env?: string
  readonly decider: string
  readonly hooks?: string
  readonly keep?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Work interactively: snapshot, restore, fork, run commands, see times and sizes.',
      )
      .option('--backend <name>', 'the backend that runs the environment')
      .option('--from <source>', 'the files it starts with, as for create')
      .option(
        '--env <env>',
        `continue with this environment, which stays at the end: ${envArgument}`,
      )
      .option('--decider <decider>', `when a snapshot is physical: ${deciderForms}`, 'always')
      .option('--hooks <file>', 'hooks that branch something outside, as JSON')
      .option('--keep', 'leave everything as it is at the end')
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          using interrupts = new Interrupts()
          const hooks = await readHooks(options.hooks)
          await using forkpoint = await context.open()
          const manager = await context.wait('creating an environment', () =>
            openManager(forkpoint, options, hooks),
          )
          const { runRepl } = await import('../../repl/run-repl.ts')
          try {
            const lines = await runRepl(context, manager, interrupts.signal)
            const stats = await manager.stats()
            const json = { session: manager.sessionId, lines, stats }
            await context.show({ json, text: () => '' })
            if (lines.some(({ error }) => error !== undefined)) context.endWith(1)
          } finally {
            if (!options.keep) await manager.cleanup()
          }
        }),
      ),
    [
      ['forkpoint repl', 'a copy of this machine, gone at the end'],
      ['forkpoint repl --env web --decider cost', 'continue with an environment'],
      ["printf 'cmd make\\nsnapshot built\\ntree\\n' | forkpoint repl --keep", 'from a script'],
    ],
  )

async function openManager(
  forkpoint: Forkpoint,
  { backend, from, env, decider }: Options,
  hooks: unknown,
): Promise<EnvManager> {
  const { checkHooks, createEnvManager, parseDecider } = await import('../../../index.ts')
  const common = { forkpoint, decider: parseDecider(decider), hooks: checkHooks(hooks) }
  if (env === undefined) {
    const create = withoutUndefined({ backend, from })
    return await createEnvManager({ method: 'waypoint_build', create, ...common })
  }
  if (backend === undefined && from === undefined) {
    return await createEnvManager({ method: 'waypoint_attach', sessionId: env, ...common })
  }
  throw new InvalidInputError('an existing environment has its backend and its files', {
    remedy: 'leave out --backend and --from, or --env',
  })
}

async function readHooks(path: string | undefined): Promise<unknown> {
  if (path === undefined) return []
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new InvalidInputError(`cannot read hooks from ${quote(path)}: ${reason}`, {
      remedy: 'give a file with a list of hooks as JSON; docs/manager.md shows one',
    })
  }
}
