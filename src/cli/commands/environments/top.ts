import { setTimeout as sleep } from 'node:timers/promises'
import { parseTimeout } from '../../../model/values/quantities.ts'
import { parsedOption } from '../../arguments/options.ts'
import { addExamples } from '../../help.ts'
import type { MakeCommand } from '../../make-command.ts'
import { renderTop } from '../../render/top.ts'
import { measure } from '../../top/measure.ts'
import { watchTop } from '../../top/watch.ts'

interface Options {
  readonly once?: true
  readonly interval: number
}

const defaultMs = 2000
/** Long enough to see which environments are busy, short enough to wait for. */
const glanceMs = 250

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Show what environments use and do, until you press q.')
      .option('--once', 'show it once and end, as without a terminal')
      .addOption(
        parsedOption('--interval <duration>', 'time between two looks', parseTimeout).default(
          defaultMs,
          '2s',
        ),
      )
      .action(({ once, interval }: Options, self) =>
        cli.perform(self, async (context) => {
          await using forkpoint = await context.open()
          const { stdin, stdout } = process
          const isLive = !once && !context.globals.json && stdin.isTTY && stdout.isTTY
          if (isLive) return await watchTop(context, forkpoint, interval)
          const before = await measure(forkpoint, null)
          await sleep(glanceMs)
          const view = await measure(forkpoint, before)
          await context.show({ json: view.rows, text: (style) => renderTop(view, style) })
        }),
      ),
    [
      ['forkpoint top', 'follow it; q ends'],
      ['forkpoint top --once', 'for a script or a note'],
      ["forkpoint top --json | jq -r '.[] | select(.operations != []).id'", 'who is busy'],
    ],
  )
