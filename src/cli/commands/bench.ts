import type { BenchOptions } from '../../bench/plan.ts'
import { type GroupName, groupNames } from '../../bench/results.ts'
import type { Follower } from '../../bench/run-bench.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { printable } from '../../model/printable.ts'
import { parseCount } from '../../model/quantities.ts'
import { quote } from '../../model/quote.ts'
import type { Context } from '../context.ts'
import { addExamples } from '../help.ts'
import { Interrupts } from '../interrupts.ts'
import type { MakeCommand } from '../make-command.ts'
import { parsedOption } from '../options.ts'
import { renderBench } from '../render/bench.ts'

interface Options {
  readonly only?: readonly GroupName[]
  readonly rounds?: number
  readonly quick?: true
  readonly soak?: number
  readonly plot?: string
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Measures on this machine what branching costs, in turns with other tools, and says which promises are kept.',
      )
      .addOption(parsedOption('--only <groups>', `of ${groupNames.join(', ')}`, parseGroups))
      .addOption(parsedOption('--rounds <n>', 'how often each is measured', parseCount))
      .option('--quick', 'few rounds and small sizes: to see that it works')
      .addOption(parsedOption('--soak <minutes>', 'branch at random for so long', parseCount))
      .option('--plot <dir>', 'write plots and all samples into this directory')
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          const { runBench } = await import('../../bench/run-bench.ts')
          const results = await withSteps(context, (follower) =>
            runBench(benchOptions(options), context.openOptions, follower),
          )
          if (options.plot !== undefined) {
            const { writeReport } = await import('../../bench/report/write-report.ts')
            writeReport(options.plot, results)
          }
          await context.show({ json: results, text: (style) => renderBench(results, style) })
          if (results.failed.length > 0) context.endWith(1)
        }),
      ),
    [
      ['forkpoint bench', 'all but the soak; takes a while'],
      ['forkpoint bench --quick --only operations', 'half a minute, to see that it works'],
      [
        'forkpoint bench --soak 20 --plot plots',
        'with twenty minutes of random branching, and plots',
      ],
    ],
  )

function benchOptions({ only, rounds, quick, soak }: Options): BenchOptions {
  return {
    ...(only !== undefined && { only }),
    ...(rounds !== undefined && { rounds }),
    ...(quick !== undefined && { quick }),
    ...(soak !== undefined && { soakMinutes: soak }),
  }
}

function parseGroups(text: string): GroupName[] {
  return text.split(',').map((word) => {
    const name = groupNames.find((known) => known === word)
    if (name !== undefined) return name
    throw new InvalidInputError(`no group of measurements: ${quote(word)}`, {
      remedy: `choose of ${groupNames.join(', ')}, with commas between`,
    })
  })
}

/** Tells every step on stderr; an interrupt ends the run at the next one, and cleans up. */
async function withSteps<T>(
  context: Context,
  work: (follower: Follower) => Promise<T>,
): Promise<T> {
  const { stderr } = context.streams
  using interrupts = new Interrupts()
  const { signal } = interrupts
  signal.addEventListener('abort', () => {
    stderr.write('\ninterrupted; cleaning up after this step\n')
  })
  return await context.wait('measuring', (show) =>
    work({
      signal,
      say: stderr.isTTY === true ? show : (doing) => stderr.write(`${printable(doing)}\n`),
    }),
  )
}
