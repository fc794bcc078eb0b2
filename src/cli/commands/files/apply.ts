import type { ApplyReport } from '../../../index.ts'
import { printable } from '../../../model/text/printable.ts'
import { hostPath } from '../../arguments/copy-paths.ts'
import { addExamples, envArgument } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { renderChanges } from '../../render/changes.ts'
import type { Style } from '../../render/layout/style.ts'

interface Options {
  readonly dryRun?: true
}

const conflict = 4

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Apply the file changes of an environment to a directory of this machine: all of them, or none ' +
          'if that directory changed in the same places.',
      )
      .argument('<env>', envArgument)
      .argument('<dir>', 'the directory that corresponds to the working directory inside')
      .option('--dry-run', 'only show what it would do, and all conflicts')
      .action((reference: string, dir: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          const report = await context.wait(`applying ${reference}`, () =>
            environment.apply(hostPath(dir), { mode: options.dryRun ? 'plan' : 'apply' }),
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
    ],
  )

function render({ changes, conflicts, leftOut }: ApplyReport, { dryRun }: Options, style: Style) {
  const done = dryRun ? 'would apply' : 'applied'
  return [
    ...(changes.length > 0 ? [renderChanges(changes, style)] : []),
    ...conflicts.map(({ path, reason }) => style.bad(`conflict  ${printable(path)}: ${reason}`)),
    ...leftOut.map((path) => style.faint(`left out  ${printable(path)}: a device, socket or pipe`)),
    `${done} ${changes.length} changes${dryRun ? `, ${conflicts.length} conflicts` : ''}`,
  ].join('\n')
}
