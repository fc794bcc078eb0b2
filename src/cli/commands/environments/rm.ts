import type { Environment, Forkpoint } from '../../../index.ts'
import { exitCodeOf, InvalidInputError, toJson } from '../../../model/errors.ts'
import type { Context } from '../../context.ts'
import { addExamples, envArgument, forceHelp } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { labelOf } from '../../render/environment.ts'

interface Options {
  readonly all?: true
  readonly force?: true
}

interface Removal {
  readonly removed: { id: string; name: string | null }[]
  readonly failed: { reference: string; error: unknown }[]
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('End environments and remove everything they have. Their snapshots stay.')
      .argument('[env...]', envArgument)
      .option('--all', 'every environment; needs --force')
      .option('--force', `with --all: yes, every environment; also ${forceHelp}`)
      .action((references: string[], options: Options, self) =>
        cli.perform(self, async (context) => {
          checkRequest(references, options)
          await using forkpoint = await context.open()
          const wanted = options.all ? (await forkpoint.list()).map(({ id }) => id) : references
          const removal = await context.wait('removing', () =>
            removeEach(forkpoint, wanted, options),
          )
          await showRemoval(context, removal)
        }),
      ),
    [
      ['forkpoint rm web', 'one'],
      ['forkpoint rm try-1 try-2 try-3', 'several; one failure does not stop the rest'],
      ['forkpoint rm --all --force', 'every environment of this home'],
    ],
  )

function checkRequest(references: readonly string[], options: Options): void {
  if (options.all && references.length > 0) {
    throw new InvalidInputError('--all and names cannot be used together', {
      remedy: 'give one or the other',
    })
  }
  if (options.all && !options.force) {
    throw new InvalidInputError('--all removes every environment of this home', {
      remedy: 'if that is what you want, add --force',
    })
  }
  if (!options.all && references.length === 0) {
    throw new InvalidInputError('no environment was named', {
      remedy: 'name environments; `forkpoint ls` lists them',
    })
  }
}

/** In order; a failure does not stop the rest. */
async function removeEach(
  forkpoint: Forkpoint,
  references: readonly string[],
  options: Options,
): Promise<Removal> {
  const removal: Removal = { removed: [], failed: [] }
  for (const reference of new Set(references)) {
    try {
      const environment: Environment = await forkpoint.get(reference)
      await environment.remove({ force: options.force === true })
      removal.removed.push({ id: environment.id, name: environment.name })
    } catch (error) {
      removal.failed.push({ reference, error })
    }
  }
  return removal
}

async function showRemoval(context: Context, { removed, failed }: Removal): Promise<void> {
  const [first] = failed
  await context.show({
    json: {
      removed,
      failed: failed.map(({ reference, error }) => ({ reference, error: toJson(error) })),
      // Where every other command puts it, for callers that only check whether it worked.
      ...(first && { error: toJson(first.error) }),
    },
    text: () => removed.map((environment) => `removed ${labelOf(environment)}`).join('\n'),
  })
  if (first === undefined) return
  context.endWith(exitCodeOf(first.error))
  if (context.globals.json) return
  for (const { error } of failed) await context.report(error)
}
