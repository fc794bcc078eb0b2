import { addExamples, branchArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { renderTree } from '../../render/tree.ts'
import { columnsOf } from '../../streams.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Show the tree of snapshots (●), with environments (▸) on their heads.')
      .argument('[env|snapshot]', `show only the tree it is part of: ${branchArgument}`)
      .action((reference: string | undefined, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const roots = await forkpoint.tree(reference)
          const columns = columnsOf(context.streams.stdout)
          await context.show({
            json: roots,
            text: (style) =>
              roots.length === 0
                ? style.faint('nothing here yet; `forkpoint create` makes an environment')
                : renderTree(roots, { nowMs: Date.now(), columns }, style),
          })
        }),
      ),
    [
      ['forkpoint tree', 'everything'],
      ['forkpoint tree web', 'the tree that web is part of'],
    ],
  )
