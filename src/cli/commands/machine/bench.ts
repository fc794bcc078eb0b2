import type { BenchOptions } from '../../../bench/plan.ts'
import {
  type BackendName,
  backendNames,
  type GroupName,
  groupNames,
} from '../../../bench/results.ts'
import type { Follower } from '../../../bench/run-bench.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { printable } from '../../../model/text/printable.ts'
import { quote } from '../../../model/text/quote.ts'
import { parseCount } from '../../../model/values/quantities.ts'
import { withoutUndefined } from '../../../model/values/without-undefined.ts'
import { parsedOption } from '../../arguments/options.ts'
import type { Context } from '../../context.ts'
import { addExamples } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { renderBench } from '../../render/bench.ts'

interface Options {
  readonly only?: readonly GroupName[]
  readonly rounds?: number
  readonly quick?: true
  readonly soak?: number
  readonly plot?: string
  readonly against?: string
  readonly backends?: readonly BackendName[]
}

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Measure the cost of branching on this machine, taking turns with other tools, and compare it ' +
          'with what Forkpoint promises.',
      )
      .addOption(
        parsedOption('--only <groups>', `one or more of ${groupNames.join(', ')}`, parseGroups),
      )
      .addOption(parsedOption('--rounds <n>', 'how often to measure each', parseCount))
      .option('--quick', 'few rounds and small sizes, to see that it works')
      .addOption(
        parsedOption('--soak <minutes>', 'also branch at random for this long', parseCount),
      )
      .option('--against <dir>', 'take turns with another checkout of Forkpoint, and compare')
      .addOption(
        parsedOption(
          '--backends <names>',
          `compare backends and measure nothing else: all, or some of ${backendNames.join(', ')}`,
          parseBackends,
        ),
      )
      .option('--plot <dir>', 'write plots and all samples into this directory')
      .action((options: Options, self) =>
        cli.perform(self, async (context) => {
          const { runBench } = await import('../../../bench/run-bench.ts')
          const results = await withSteps(context, (follower) =>
            runBench(benchOptions(options), context.openOptions, follower),
          )
          if (options.plot !== undefined) {
            const { writeReport } = await import('../../../bench/report/write-report.ts')
            writeReport(options.plot, results)
          }
          await context.show({ json: results, text: (style) => renderBench(results, style) })
          if (results.failed.length > 0) context.endWith(1)
        }),
      ),
    [
      ['forkpoint bench', 'everything except the soak; takes a while'],
      ['forkpoint bench --quick --only operations', 'half a minute, to see that it works'],
      [
        'forkpoint bench --soak 20 --plot plots',
        'add twenty minutes of random branching, and plots',
      ],
      [
        'forkpoint bench --against ../before --only pause',
        'how long snapshots stop an environment, before a change and after it',
      ],
      ['forkpoint bench --backends all', 'the same workloads on every backend that works here'],
    ],
  )

function benchOptions(options: Options): BenchOptions {
  const { only, rounds, quick, soak, against, backends } = options
  if (backends !== undefined && (only ?? against ?? soak) !== undefined)
    throw new InvalidInputError('--backends measures nothing else', {
      remedy: 'leave out --only, --against and --soak',
    })
  if (only?.includes('backends'))
    throw new InvalidInputError('the group backends needs a list of them', {
      remedy: 'use --backends all instead of --only backends',
    })
  return withoutUndefined({ only, rounds, quick, soakMinutes: soak, against, backends })
}

function parseBackends(given: string): readonly BackendName[] {
  if (given === 'all') return backendNames
  return given.split(',').map((word) => {
    const name = backendNames.find((known) => known === word)
    if (name !== undefined) return name
    throw new InvalidInputError(`not a backend: ${quote(word)}`, {
      remedy: `use all, or choose from ${backendNames.join(', ')}, separated by commas`,
    })
  })
}

function parseGroups(text: string): GroupName[] {
  return text.split(',').map((word) => {
    const name = groupNames.find((known) => known === word)
    if (name !== undefined) return name
    throw new InvalidInputError(`not a group of measurements: ${quote(word)}`, {
      remedy: `choose from ${groupNames.join(', ')}, separated by commas`,
    })
  })
}

/** Reports every step on stderr. An interrupt ends the run at the next step and cleans up. */
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
