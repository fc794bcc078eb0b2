import { resolve } from 'node:path'
import type { CopyAmount } from '../../../index.ts'
import type { CopyReport } from '../../../model/files/copy-report.ts'
import { counted } from '../../../model/text/counted.ts'
import { printable } from '../../../model/text/printable.ts'
import { formatBytes } from '../../../model/values/quantities.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { parsePlaces } from '../../arguments/copy-paths.ts'
import { listOption } from '../../arguments/options.ts'
import { addExamples, branchArgument, excludeHelp, gitignoreHelp } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { say } from '../../write.ts'

interface Options {
  readonly path?: readonly string[]
  readonly exclude?: readonly string[]
  readonly gitignore?: true
  readonly keepOwners?: true
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Copy a directory out into a new one: PATH inside, or the current directory of the shell; of a ' +
          'snapshot, the working directory. Says how much it is if it is more than a little.',
      )
      .usage('[options] <env|snapshot> [path] <dir>')
      .argument('<env|snapshot>', branchArgument)
      .argument(
        '<places...>',
        'a directory inside, if you name one; then a directory of this machine that does not exist yet, or is empty',
      )
      .addOption(
        listOption(
          '--path <path>',
          'paths inside instead, which keep their whole path below the directory',
        ),
      )
      .addOption(listOption('--exclude <pattern>', excludeHelp))
      .option('--gitignore', gitignoreHelp)
      .option(
        '--keep-owners',
        'keep the owners that files have inside, instead of making them yours',
      )
      .action((reference: string, places: string[], options: Options, self) =>
        cli.perform(self, async (context) => {
          const { path, dir } = parsePlaces(places)
          await using forkpoint = await context.open()
          const from = await forkpoint.find(reference)
          const { exclude, gitignore, keepOwners } = options
          const wanted = withoutUndefined({
            path,
            paths: options.path,
            exclude,
            gitignore,
            owner: keepOwners && ('keep' as const),
          })
          let announced = Promise.resolve()
          let totalBytes: number | null = null
          const onMeasured = (amount: CopyAmount | null) => {
            totalBytes = amount?.bytes ?? null
            const text = announcement(amount)
            if (text !== null) announced = say(context.streams.stderr, `forkpoint: ${text}\n`)
          }
          const report = await context.wait(`exporting ${reference}`, (tell) =>
            from.export(dir, {
              ...wanted,
              onMeasured,
              onProgress: ({ entries, bytes }) =>
                tell(`exporting ${reference}: ${counted(entries, 'entry', 'entries')}`, {
                  doneBytes: bytes,
                  totalBytes,
                }),
            }),
          )
          await announced
          await context.show({
            json: { dir: resolve(dir), ...report },
            text: () => render(report, resolve(dir)),
          })
        }),
      ),
    [
      ['forkpoint export try-2 ./result', 'the directory that its shell is in'],
      [
        'forkpoint export try-2 /app ./result --exclude node_modules',
        'a directory, without a part',
      ],
      ['forkpoint export ready ./etc-then --path /etc --path /srv', 'several, each in its place'],
    ],
  )

/** What takes less is done before anybody could read it. */
const little = { entries: 5000, bytes: 100 * 1024 ** 2 }

function announcement(amount: CopyAmount | null): string | null {
  if (amount === null)
    return 'copying more than a million entries; Ctrl-C stops it, and leaves nothing'
  const { path, entries, bytes } = amount
  if (entries <= little.entries && bytes <= little.bytes) return null
  const what = path === null ? '' : ` ${printable(path)},`
  return `copying${what} ${counted(entries, 'entry', 'entries')}, ${formatBytes(bytes)}; Ctrl-C stops it, and leaves nothing`
}

function render({ entries, bytes, leftOut }: CopyReport, dir: string): string {
  return [
    `exported ${counted(entries, 'entry', 'entries')}, ${formatBytes(bytes)}, to ${printable(dir)}`,
    ...leftOut.map((path) => `left out ${printable(path)}: a device, socket or pipe`),
  ].join('\n')
}
