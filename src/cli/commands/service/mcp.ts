import { Option } from 'commander'
import {
  defaultOptions,
  type McpOptions,
  parseAllow,
  parseLimit,
  parseToolSet,
  type ToolSet,
  toolSets,
} from '../../../mcp/options.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { pairsOption, parsedOption } from '../../arguments/options.ts'
import { addExamples } from '../../help.ts'
import { withOwnErrors } from '../../hosts/daemon-bundle.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'

interface Options {
  readonly tools?: ToolSet
  readonly allow?: readonly string[]
  readonly label?: Readonly<Record<string, string>>
  readonly limit?: number
  readonly remove?: 'own' | 'any'
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Serve one client of the Model Context Protocol on stdin and stdout: coding agents start it.',
      )
      .addOption(
        parsedOption(
          '--tools <set>',
          `the names of the tools: ${toolSets.join(', ')}`,
          parseToolSet,
        ),
      )
      .addOption(parsedOption('--allow <tools>', 'the only tools, with commas', parseAllow))
      .addOption(
        pairsOption('--label <key=value>', 'only environments with this label; new ones get it'),
      )
      .addOption(
        parsedOption(
          '--limit <n>',
          `how many environments of its own may live at once (default: ${defaultOptions.limit})`,
          parseLimit,
        ),
      )
      .addOption(
        new Option('--remove <what>', 'what it may remove (default: own)').choices(['own', 'any']),
      )
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          using interrupts = new Interrupts()
          const { serveStdio } = await import('../../../mcp/stdio.ts')
          await using forkpoint = await context.open('prepared')
          const wanted = mcpOptions(options)
          await withOwnErrors(() => serveStdio(forkpoint, wanted, interrupts.arrived))
        }),
      ),
    [
      ['claude mcp add forkpoint -- forkpoint mcp', 'add it to Claude Code'],
      ['forkpoint mcp --label team=a --limit 4', 'only the environments of a team'],
      ['forkpoint mcp --allow list_environments,tree,diff,read_file', 'only to look'],
    ],
  )

function mcpOptions({ label, remove, ...rest }: Options): McpOptions {
  const given = withoutUndefined({ ...rest, labels: label, removes: remove })
  return { ...defaultOptions, ...given }
}
