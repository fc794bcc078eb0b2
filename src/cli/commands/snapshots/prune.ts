import { Option } from 'commander'
import type { Forkpoint, PruneOptions, Snapshot } from '../../../index.ts'
import { parseAge, parseWhole } from '../../../model/values/quantities.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { pairsOption, parsedOption } from '../../arguments/options.ts'
import { requireConsent } from '../../confirm.ts'
import type { Context } from '../../context.ts'
import { addExamples } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { removed, removedImage } from '../../render/layout/sentences.ts'
import type { Style } from '../../render/layout/style.ts'
import { type PruneLine, pruneTable } from '../../render/prune.ts'
import { imageTable } from '../../render/usage.ts'

interface Options {
  readonly keepLast?: number
  readonly keepNamed?: true
  readonly olderThan?: number
  readonly label?: Readonly<Record<string, string>>
  readonly dryRun?: true
  readonly force?: true
  readonly images?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Remove snapshots that nothing builds on and no option keeps. What an environment or a ' +
          'kept snapshot needs always stays. Without options, everything else is removed; if some of it has a name, ' +
          'you are asked first.',
      )
      .addOption(
        parsedOption(
          '--keep-last <n>',
          'keep the newest n snapshots of each environment',
          parseWhole,
        ),
      )
      .option('--keep-named', 'keep snapshots that have a name')
      .addOption(
        parsedOption('--older-than <age>', 'remove only older ones, such as 12h or 30d', parseAge),
      )
      .addOption(pairsOption('--label <key=value>', 'remove only those with this label'))
      .option('--force', 'without options: also remove snapshots that have a name, and do not ask')
      .option('--dry-run', 'only show what would be removed, and why the rest stays')
      .addOption(
        new Option(
          '--images',
          'remove container images that nothing uses, and no snapshots',
        ).conflicts(['keepLast', 'keepNamed', 'olderThan', 'label']),
      )
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          if (options.images) return await pruneImages(context, forkpoint, options)
          const before = await forkpoint.snapshots()
          const names = new Map<string, string | null>([
            ...before.map(({ id, name }) => [id, name] as const),
            ...(await forkpoint.list()).map(({ id, name }) => [id, name] as const),
          ])
          await requireNoAccident(context, forkpoint, options, before)
          const { remove, kept } = await context.wait('pruning', () =>
            forkpoint.prune(pruneOptions(options)),
          )
          const named = (id: string) => ({ id, name: names.get(id) ?? null })
          const gone = remove.map(named)
          const stay = kept.map(({ id, reason }) => ({ ...named(id), reason }))
          const plan = [...gone.map((line) => ({ ...line, reason: null })), ...stay]
          await context.show({
            json: { dryRun: options.dryRun ?? false, removed: gone, kept: stay },
            text: (style) =>
              options.dryRun
                ? renderPlan(plan, (id) => names.get(id) ?? id, style)
                : removed(gone) || nothingToRemove(style),
          })
        }),
      ),
    [
      [
        'forkpoint prune --keep-last 3 --keep-named --dry-run',
        'what would be removed, and why the rest stays',
      ],
      ['forkpoint prune --keep-named --older-than 7d', 'unnamed snapshots older than a week'],
      ['forkpoint prune --label task=42', 'what one task has left'],
      ['forkpoint prune --images', 'container images that nothing uses'],
    ],
  )

const mostNames = 5

/** A name says that somebody wants to find it again, and no rule says what may go. */
async function requireNoAccident(
  context: Context,
  forkpoint: Forkpoint,
  options: Options,
  snapshots: readonly Snapshot[],
): Promise<void> {
  const { force, dryRun, ...rules } = options
  if (force || dryRun || Object.keys(rules).length > 0) return
  const { remove } = await forkpoint.prune({ dryRun: true })
  const going = new Set(remove)
  const named = snapshots
    .filter(({ id, lastInfo }) => going.has(id) && lastInfo.status === 'ready')
    .flatMap(({ name }) => name ?? [])
  if (named.length === 0) return
  const more = named.length > mostNames ? ` and ${named.length - mostNames} more` : ''
  const list = `${named.slice(0, mostNames).join(', ')}${more}`
  await requireConsent(context, {
    what: `this removes ${remove.length} snapshots, also some that have a name: ${list}`,
    remedy: 'keep those with --keep-named, or remove them too with --force',
  })
}

async function pruneImages(
  context: Context,
  forkpoint: Forkpoint,
  options: Options,
): Promise<void> {
  const dryRun = options.dryRun ?? false
  const images = await context.wait('pruning', () => forkpoint.pruneImages({ dryRun }))
  await context.show({
    json: { dryRun, images },
    text: (style) => {
      if (images.length === 0) return nothingToRemove(style)
      return dryRun ? imageTable(images, style) : images.map(removedImage).join('\n')
    },
  })
}

function renderPlan(
  plan: readonly PruneLine[],
  nameOf: (id: string) => string,
  style: Style,
): string {
  return plan.length === 0 ? nothingToRemove(style) : pruneTable(plan, nameOf, style)
}

function nothingToRemove(style: Style): string {
  return style.faint('nothing to remove')
}

function pruneOptions({ keepLast, keepNamed, olderThan, label, dryRun }: Options): PruneOptions {
  return withoutUndefined({ keepLast, keepNamed, olderThanMs: olderThan, labels: label, dryRun })
}
