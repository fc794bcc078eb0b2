import type { Forkpoint } from '../../../index.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { pairsOption } from '../../arguments/options.ts'
import { addExamples, snapshotArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { removed } from '../../render/layout/sentences.ts'

interface Options {
  readonly cascade?: boolean
  readonly label?: Readonly<Record<string, string>>
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Remove snapshots: all of them, or none if something else needs one.')
      .argument('[snapshot...]', snapshotArgument)
      .addOption(pairsOption('--label <key=value>', 'all with this label, instead of names'))
      .option('--cascade', 'also remove the snapshots that build on them')
      .action((references: string[], { cascade = false, label }: Options, self) =>
        cli.perform(self, async (context) => {
          requireOne(references, label)
          await using forkpoint = await context.open()
          const names = new Map((await forkpoint.snapshots()).map(({ id, name }) => [id, name]))
          const wanted = label === undefined ? references : await withLabels(forkpoint, label)
          const ids = await context.wait('removing', async () =>
            wanted.length === 0 ? [] : await forkpoint.removeSnapshots(wanted, { cascade }),
          )
          const gone = ids.map((id) => ({ id, name: names.get(id) ?? null }))
          await context.show({
            json: { removed: gone },
            text: (style) => removed(gone) || style.faint('no snapshot has this label'),
          })
        }),
      ),
    [
      ['forkpoint rm-snapshot draft', 'one that nothing builds on'],
      ['forkpoint rm-snapshot old --cascade', 'with all snapshots that build on it'],
      ['forkpoint rm-snapshot --label task=42', 'all of one task'],
    ],
  )

function requireOne(references: readonly string[], label: Options['label']): void {
  if (references.length > 0 && label !== undefined) {
    throw new InvalidInputError('--label and names cannot be used together', {
      remedy: 'give one or the other',
    })
  }
  if (references.length > 0 || label !== undefined) return
  throw new InvalidInputError('no snapshot was named', {
    remedy: 'name snapshots, or give a --label; `forkpoint snapshots` lists them',
  })
}

async function withLabels(
  forkpoint: Forkpoint,
  labels: Readonly<Record<string, string>>,
): Promise<string[]> {
  return (await forkpoint.snapshots({ labels })).map(({ id }) => id)
}
