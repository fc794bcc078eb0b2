import type { TerminalInfo } from '../../../index.ts'
import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { type Column, table } from '../../render/layout/table.ts'

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('List the terminals of an environment.')
      .argument('<env>', envArgument)
      .action((reference: string, _options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const terminals = await (await forkpoint.get(reference)).terminals()
          await context.show({
            json: terminals,
            text: (style) =>
              terminals.length > 0
                ? table(columns, terminals, style)
                : style.faint('no terminals; `forkpoint shell ENV` opens one'),
          })
        }),
      ),
    [['forkpoint terminals web', 'names, sizes and viewers']],
  )

const columns: readonly Column<TerminalInfo>[] = [
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'SIZE', cell: ({ cols, rows }) => `${cols}×${rows}` },
]
