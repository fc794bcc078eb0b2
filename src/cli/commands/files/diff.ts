import type { DiffOptions, FilesDiff } from '../../../index.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { addExamples, branchArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { renderChanges, renderStat } from '../../render/changes.ts'
import type { Style } from '../../render/layout/style.ts'

interface Options {
  readonly patch?: true
  readonly stat?: true
  readonly all?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Show which files changed from A to B. Without B, show what A changed since ' +
          'the snapshot it continues from.',
      )
      .usage('[options] A [B] [PATH…]')
      .argument('<env|snapshot>', `A: ${branchArgument}`)
      .argument('[others...]', 'B, then paths inside to compare; a path begins with "/"')
      .option('--stat', 'only count the changes of each kind')
      .option('--patch', 'the changed lines of text files, as `git apply` reads them')
      .option('--all', 'also the files with its name, which every fork changes: /etc/hostname, …')
      .action((reference: string, others: string[], options: Options, self) =>
        cli.perform(self, async (context) => {
          const { other, paths } = split(others)
          await using forkpoint = await context.open()
          const a = await forkpoint.find(reference)
          const b = other === undefined ? undefined : await forkpoint.find(other)
          const wanted: DiffOptions = {
            ...(paths.length > 0 && { paths }),
            ...(options.patch && { patch: 'text' }),
            ...(options.all && { all: true }),
          }
          const diff = await context.wait('comparing', () => a.diff(b, wanted))
          await context.show({
            json: { changes: diff.changes, ...(options.patch && { patch: diff.patch }) },
            text: (style) => render(diff, options, style),
            exact: options.patch && !options.stat ? diff.patch : undefined,
          })
        }),
      ),
    [
      ['forkpoint diff web', 'changes since the last snapshot'],
      ['forkpoint diff ready try-2 --patch /app', 'changes of a branch, in one directory'],
      ['forkpoint diff try-1 try-2 --stat', 'two branches'],
    ],
  )

function split(others: readonly string[]): { other: string | undefined; paths: string[] } {
  const [first, ...rest] = others
  const hasOther = first !== undefined && !first.startsWith('/')
  const paths = hasOther ? rest : [...others]
  const wrong = paths.find((path) => !path.startsWith('/'))
  if (wrong === undefined) return { other: hasOther ? first : undefined, paths }
  throw new InvalidInputError(`not an absolute path: ${quote(wrong)}`, {
    remedy: 'write A and B first, then paths inside, which begin with "/"',
  })
}

function render({ changes, patch }: FilesDiff, { patch: asPatch, stat }: Options, style: Style) {
  if (stat) return renderStat(changes, style)
  return asPatch ? patch.trimEnd() : renderChanges(changes, style)
}
