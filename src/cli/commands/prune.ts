import type { PruneOptions } from '../../index.ts'
import { parseAge, parseWhole } from '../../model/quantities.ts'
import { addExamples } from '../help.ts'
import type { MakeCommand } from '../make-command.ts'
import { parsedOption } from '../options.ts'
import { pruneTable } from '../render/prune.ts'
import { removed } from '../render/sentences.ts'

interface Options {
  readonly keepLast?: number
  readonly keepNamed?: true
  readonly olderThan?: number
  readonly dryRun?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Removes snapshots that nothing builds on and no option keeps. What an environment or a ' +
          'kept snapshot needs always stays; without options, only that does.',
      )
      .addOption(
        parsedOption('--keep-last <n>', 'keep the newest n of each environment', parseWhole),
      )
      .option('--keep-named', 'keep those that have a name')
      .addOption(
        parsedOption('--older-than <age>', 'only what is older, such as 12h or 30d', parseAge),
      )
      .option('--dry-run', 'only show what would go, and why the rest stays')
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const before = await forkpoint.snapshots()
          const names = new Map<string, string | null>([
            ...before.map(({ id, name }) => [id, name] as const),
            ...(await forkpoint.list()).map(({ id, name }) => [id, name] as const),
          ])
          const { remove, kept } = await context.wait('pruning', () =>
            forkpoint.prune(pruneOptions(options)),
          )
          const named = (id: string) => ({ id, name: names.get(id) ?? null })
          const gone = remove.map(named)
          const stay = kept.map(({ id, reason }) => ({ ...named(id), reason }))
          await context.show({
            json: { dryRun: options.dryRun ?? false, removed: gone, kept: stay },
            text: (style) => {
              if (!options.dryRun && gone.length > 0) return removed(gone)
              if (!options.dryRun || before.length === 0) return style.faint('nothing to remove')
              const goes = gone.map((line) => ({ ...line, reason: null }))
              return pruneTable([...goes, ...stay], (id) => names.get(id) ?? id, style)
            },
          })
        }),
      ),
    [
      [
        'forkpoint prune --keep-last 3 --keep-named --dry-run',
        'what would go, and why not the rest',
      ],
      ['forkpoint prune --keep-named --older-than 7d', 'unnamed ones of last week and before'],
    ],
  )

function pruneOptions({ keepLast, keepNamed, olderThan, dryRun }: Options): PruneOptions {
  return {
    ...(keepLast !== undefined && { keepLast }),
    ...(keepNamed !== undefined && { keepNamed }),
    ...(olderThan !== undefined && { olderThanMs: olderThan }),
    ...(dryRun !== undefined && { dryRun }),
  }
}
