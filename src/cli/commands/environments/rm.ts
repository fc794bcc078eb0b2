import type { Environment, Forkpoint } from '../../../index.ts'
import { exitCodeOf, InvalidInputError, toJson } from '../../../model/errors.ts'
import { pairsOption } from '../../arguments/options.ts'
import type { Context } from '../../context.ts'
import { addExamples, envArgument, forceHelp } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { labelOf } from '../../render/environment.ts'

interface Options {
  readonly all?: true
  readonly label?: Readonly<Record<string, string>>
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
      .addOption(pairsOption('--label <key=value>', 'all with this label, instead of names'))
      .option('--all', 'every environment; needs --force')
      .option('-f, --force', `with --all: yes, every environment; also ${forceHelp}`)
      .action((references: string[], options: Options, self) =>
        cli.perform(self, async (context) => {
          checkRequest(references, options)
          await using forkpoint = await context.open()
          const wanted = await wantedOf(forkpoint, references, options)
          const removal = await context.wait('removing', () =>
            removeEach(forkpoint, wanted, options),
          )
          await showRemoval(context, removal)
        }),
      ),
    [
      ['forkpoint rm web', 'one'],
      ['forkpoint rm try-1 try-2 try-3', 'several; one failure does not stop the rest'],
      ['forkpoint rm --label task=42', 'the environments of one task'],
      ['forkpoint rm --all --force', 'every environment of this home'],
    ],
  )

async function wantedOf(
  forkpoint: Forkpoint,
  references: readonly string[],
  { all, label }: Options,
): Promise<readonly string[]> {
  if (!all && label === undefined) return references
  const found = await forkpoint.list(label === undefined ? {} : { labels: label })
  return found.map(({ id }) => id)
}

function checkRequest(references: readonly string[], options: Options): void {
  const ways = [options.all && '--all', options.label && '--label', references.length && 'names']
  const given = ways.filter(Boolean)
  if (given.length > 1) {
    throw new InvalidInputError(`${given.join(' and ')} cannot be used together`, {
      remedy: 'give one or the other',
    })
  }
  if (options.all && !options.force) {
    throw new InvalidInputError('--all removes every environment of this home', {
      remedy: 'if that is what you want, add --force',
    })
  }
  if (given.length === 0) {
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
