import { resolve } from 'node:path'
import { printable } from '../../model/printable.ts'
import { formatBytes } from '../../model/quantities.ts'
import { hostPath } from '../copy-paths.ts'
import { addExamples, branchArgument } from '../help.ts'
import type { MakeCommand } from '../make-command.ts'
import { listOption } from '../options.ts'

interface Options {
  readonly path?: readonly string[]
  readonly keepOwners?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Copies files out into a new directory: the working directory, or the paths named.',
      )
      .argument('<env|snapshot>', branchArgument)
      .argument('<dir>', 'a directory of this machine that does not exist yet, or is empty')
      .addOption(listOption('--path <path>', 'a path inside, which keeps its place; repeatable'))
      .option('--keep-owners', 'the ids that files have inside, instead of your own')
      .action((reference: string, dir: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const from = await forkpoint.find(reference)
          const { path, keepOwners } = options
          const report = await context.wait(`exporting ${reference}`, () =>
            from.export(hostPath(dir), {
              ...(path !== undefined && { paths: path }),
              ...(keepOwners && { owner: 'keep' }),
            }),
          )
          const { entries, bytes, leftOut } = report
          await context.show({
            json: { dir: resolve(dir), ...report },
            text: () =>
              [
                `exported ${entries} entries, ${formatBytes(bytes)}, to ${printable(resolve(dir))}`,
                ...leftOut.map(
                  (skipped) => `left out ${printable(skipped)}: a device, socket or pipe`,
                ),
              ].join('\n'),
          })
        }),
      ),
    [
      ['forkpoint export try-2 ./result', 'the working directory'],
      ['forkpoint export ready ./etc-then --path /etc', 'a directory as it was at a snapshot'],
    ],
  )
