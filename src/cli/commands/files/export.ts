import { resolve } from 'node:path'
import type { CopyReport } from '../../../model/files/copy-report.ts'
import { printable } from '../../../model/text/printable.ts'
import { formatBytes } from '../../../model/values/quantities.ts'
import { hostPath } from '../../arguments/copy-paths.ts'
import { listOption } from '../../arguments/options.ts'
import { addExamples, branchArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'

interface Options {
  readonly path?: readonly string[]
  readonly keepOwners?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Copy files out into a new directory: the working directory, or the paths you name.',
      )
      .argument('<env|snapshot>', branchArgument)
      .argument('<dir>', 'a directory of this machine that does not exist yet, or is empty')
      .addOption(
        listOption('--path <path>', 'a path inside, which keeps its place below the directory'),
      )
      .option(
        '--keep-owners',
        'keep the owners that files have inside, instead of making them yours',
      )
      .action((reference: string, dir: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const from = await forkpoint.find(reference)
          const { path, keepOwners } = options
          const report = await context.wait(`exporting ${reference}`, (say) =>
            from.export(hostPath(dir), {
              onProgress: ({ entries, bytes }) =>
                say(`exporting ${reference}: ${entries} entries`, { doneBytes: bytes }),
              ...(path !== undefined && { paths: path }),
              ...(keepOwners && { owner: 'keep' }),
            }),
          )
          await context.show({
            json: { dir: resolve(dir), ...report },
            text: () => render(report, resolve(dir)),
          })
        }),
      ),
    [
      ['forkpoint export try-2 ./result', 'the working directory'],
      ['forkpoint export ready ./etc-then --path /etc', 'a directory as it was at a snapshot'],
    ],
  )

function render({ entries, bytes, leftOut }: CopyReport, dir: string): string {
  return [
    `exported ${entries} entries, ${formatBytes(bytes)}, to ${printable(dir)}`,
    ...leftOut.map((path) => `left out ${printable(path)}: a device, socket or pipe`),
  ].join('\n')
}
