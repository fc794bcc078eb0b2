import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment, InstanceStats } from '../../../index.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import type { Context } from '../../context.ts'
import { addExamples, envArgument } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { keyValues } from '../../render/layout/key-values.ts'
import { styleFor } from '../../render/layout/style.ts'
import { statsFacts } from '../../render/stats.ts'
import { write } from '../../write.ts'

interface Options {
  readonly watch?: true
}

const watchMs = 1000

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description('Show the memory, CPU time, processes and disk space that an environment uses.')
      .argument('<env>', envArgument)
      .option('-w, --watch', 'repeat every second, until interrupted')
      .action((reference: string, options: Options, self) =>
        cli.perform(self, async (context) => {
          if (options.watch && context.globals.json) {
            throw new InvalidInputError('--watch and --json cannot be used together', {
              remedy: '--json prints one document; run it as often as you need',
            })
          }
          await using forkpoint = await context.open()
          const environment = await forkpoint.get(reference)
          if (options.watch) return await watch(context, environment)
          const stats = await environment.stats()
          const { id, name, status } = await environment.info()
          await context.show({
            json: { id, name, status, ...stats },
            text: (style) => keyValues(statsFacts(stats), style),
          })
        }),
      ),
    [
      ['forkpoint stats web', 'memory, CPU, processes and disk'],
      ['forkpoint stats web --watch', 'follow the changes'],
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
    // On a terminal the new numbers replace the old ones; elsewhere they follow them.
    const lines = text.split('\n').length
    const back = before && stdout.isTTY ? `\u001b[${lines}A\u001b[J` : ''
    await write(stdout, `${back}${text}\n${stdout.isTTY ? '' : '\n'}`)
    before = { stats, at }
    await Promise.race([sleep(watchMs, undefined, { ref: true }), interrupts.arrived])
  }
}
