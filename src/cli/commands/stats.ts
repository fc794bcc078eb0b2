import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment, InstanceStats } from '../../index.ts'
import { InvalidInputError } from '../../model/errors.ts'
import type { Context } from '../context.ts'
import { addExamples, envArgument } from '../help.ts'
import { Interrupts } from '../interrupts.ts'
import type { MakeCommand } from '../make-command.ts'
import { keyValues } from '../render/key-values.ts'
import { statsFacts } from '../render/stats.ts'
import { styleFor } from '../render/style.ts'
import { write } from '../write.ts'

interface Options {
  readonly watch?: true
}

const watchMs = 1000

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Shows what an environment uses of its limits.')
      .argument('<env>', envArgument)
      .option('-w, --watch', 'look again every second, until interrupted')
      .action((reference: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          if (options.watch && context.globals.json) {
            throw new InvalidInputError('--watch and --json do not go together', {
              remedy: '--json prints one document; call it as often as you need',
            })
          }
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          if (options.watch) return await watch(context, environment)
          const stats = await environment.stats()
          const { id, name, status } = environment.refresh()
          await context.show({
            json: { id, name, status, ...stats },
            text: (style) => keyValues(statsFacts(stats), style),
          })
        }),
      ),
    [
      ['forkpoint stats web', 'memory, cpu, processes and disk'],
      ['forkpoint stats web --watch', 'how that changes'],
    ],
  )

async function watch(context: Context, environment: Environment): Promise<void> {
  using interrupts = new Interrupts()
  const { stdout } = context.streams
  const style = styleFor(stdout, context.globals)
  let before: { stats: InstanceStats; at: number } | undefined
  while (!interrupts.signal.aborted) {
    const stats = await environment.stats()
    const at = performance.now()
    const cpus = before && (stats.cpuMs - before.stats.cpuMs) / (at - before.at)
    const text = keyValues(statsFacts(stats, cpus), style)
    // On a terminal the new numbers take the place of the old; elsewhere they follow them.
    const lines = text.split('\n').length
    const back = before && stdout.isTTY ? `\u001b[${lines}A\u001b[J` : ''
    await write(stdout, `${back}${text}\n${stdout.isTTY ? '' : '\n'}`)
    before = { stats, at }
    await Promise.race([sleep(watchMs, undefined, { ref: true }), interrupts.came])
  }
}
