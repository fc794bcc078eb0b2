import type { ApplyReport } from '../../../index.ts'
import { counted } from '../../../model/text/counted.ts'
import { printable } from '../../../model/text/printable.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { parsePlaces } from '../../arguments/copy-paths.ts'
import { listOption } from '../../arguments/options.ts'
import { addExamples, envArgument, excludeHelp, gitignoreHelp } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { renderChanges } from '../../render/changes.ts'
import type { Style } from '../../render/layout/style.ts'

interface Options {
  readonly path?: readonly string[]
  readonly exclude?: readonly string[]
  readonly gitignore?: true
  readonly dryRun?: true
}

const conflict = 4

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Apply the file changes of an environment to a directory of this machine: all of them, or none ' +
          'if that directory changed in the same places. Changes count from when the directory was copied in ' +
          'with `cp`, or else from when the environment was made.',
      )
      .usage('[options] <env> [path] <dir>')
      .argument('<env>', envArgument)
      .argument(
        '<places...>',
        'the directory inside, if it is not where `cp` put this one, the directory of a `dir:` source, or the ' +
          'current directory of the shell; then the directory of this machine',
      )
      .addOption(
        listOption('--path <path>', 'only what changed at or below this path; may be repeated'),
      )
      .addOption(listOption('--exclude <pattern>', excludeHelp))
      .option('--gitignore', gitignoreHelp)
      .option('--dry-run', 'only show what it would do, and all conflicts')
      .action((reference: string, places: string[], options: Options, self) =>
        cli.perform(self, async (context) => {
          const { path, dir } = parsePlaces(places)
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const report = await context.wait(`applying ${reference}`, () =>
            environment.apply(
              dir,
              withoutUndefined({
                path,
                paths: options.path,
                exclude: options.exclude,
                gitignore: options.gitignore,
                mode: options.dryRun ? ('plan' as const) : ('apply' as const),
              }),
            ),
          )
          await context.show({
            json: { dryRun: options.dryRun ?? false, ...report },
            text: (style) => render(report, options, style),
          })
          if (report.conflicts.length > 0) context.endWith(conflict)
        }),
      ),
    [
      ['forkpoint apply try-2 . --dry-run', 'what it would do to the current directory'],
      ['forkpoint apply try-2 .', 'do it'],
      ['forkpoint apply try-2 /app . --gitignore --exclude .git', 'only what Git would track'],
    ],
  )

function render(
  { path, changes, conflicts, leftOut }: ApplyReport,
  { dryRun }: Options,
  style: Style,
) {
  const done = dryRun ? 'would apply' : 'applied'
  return [
    ...(changes.length > 0 ? [renderChanges(changes, style)] : []),
    ...conflicts.map(({ path, reason }) => style.bad(`conflict  ${printable(path)}: ${reason}`)),
    ...leftOut.map((path) => style.faint(`left out  ${printable(path)}: a device, socket or pipe`)),
    `${done} ${counted(changes.length, 'change')} of ${printable(path)}${dryRun ? `, ${counted(conflicts.length, 'conflict')}` : ''}`,
  ].join('\n')
}
