import { addExamples, snapshotArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { removed } from '../../render/layout/sentences.ts'

interface Options {
  readonly cascade?: boolean
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Remove snapshots: all of them, or none if something else needs one.')
      .argument('<snapshot...>', snapshotArgument)
      .option('--cascade', 'also remove the snapshots that build on them')
      .action((references: string[], { cascade = false }: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const names = new Map((await forkpoint.snapshots()).map(({ id, name }) => [id, name]))
          const ids = await context.wait('removing', () =>
            forkpoint.removeSnapshots(references, { cascade }),
          )
          const gone = ids.map((id) => ({ id, name: names.get(id) ?? null }))
          await context.show({ json: { removed: gone }, text: () => removed(gone) })
        }),
      ),
    [
      ['forkpoint rm-snapshot draft', 'one that nothing builds on'],
      ['forkpoint rm-snapshot old --cascade', 'with all snapshots that build on it'],
    ],
  )
