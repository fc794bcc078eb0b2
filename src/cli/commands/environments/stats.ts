import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment, Forkpoint, InstanceStats } from '../../../index.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import type { Context } from '../../context.ts'
import { addExamples, envArgument } from '../../help.ts'
import { Interrupts } from '../../interrupts.ts'
import type { MakeCommand } from '../../make-command.ts'
import { keyValues } from '../../render/layout/key-values.ts'
import { type Style, styleFor } from '../../render/layout/style.ts'
import { statsFacts } from '../../render/stats.ts'
import { renderTop } from '../../render/top.ts'
import { measure } from '../../top/measure.ts'
import { write } from '../../write.ts'

interface Options {
  readonly watch?: true
}

const watchMs = 1000
/** Long enough to see which environments are busy, short enough to wait for. */
const glanceMs = 250

export const make: MakeCommand = (command, cli) =>
  addExamples(
    command
      .description(
        'Show the memory, CPU time, processes and disk space that an environment uses, or all of them.',
      )
      .argument('[env]', `${envArgument}; without one, all environments`)
      .option('-w, --watch', 'repeat every second, until interrupted')
      .action((reference: string | undefined, options: Options, self) =>
        cli.perform(self, async (context) => {
          if (options.watch && context.globals.json) {
            throw new InvalidInputError('--watch and --json cannot be used together', {
              remedy: '--json prints one document; run it as often as you need',
            })
          }
          await using forkpoint = await context.open()
          if (reference === undefined) return await showAll(context, forkpoint, options)
          const environment = await forkpoint.get(reference)
          if (options.watch) return await repeat(context, lookAtOne(environment))
          const stats = await environment.stats()
          const { id, name, status } = await environment.info()
          await context.show({
            json: { id, name, status, ...stats },
            text: (style) => keyValues(statsFacts(stats), style),
          })
        }),
      ),
    [
      ['forkpoint stats', 'all environments'],
      ['forkpoint stats web', 'memory, CPU, processes and disk'],
      ['forkpoint stats web --watch', 'follow the changes'],
    ],
  )

async function showAll(context: Context, forkpoint: Forkpoint, { watch }: Options): Promise<void> {
  let before = await measure(forkpoint, null)
  const look: Look = async (style) => {
    before = await measure(forkpoint, before)
    return renderTop(before, style)
  }
  if (watch) return await repeat(context, look)
  await sleep(glanceMs)
  const view = await measure(forkpoint, before)
  await context.show({ json: view.rows, text: (style) => renderTop(view, style) })
}

type Look = (style: Style) => Promise<string>

function lookAtOne(environment: Environment): Look {
  let before: { stats: InstanceStats; at: number } | undefined
  return async (style) => {
    const stats = await environment.stats()
    const at = performance.now()
    const cpus = before && (stats.cpuMs - before.stats.cpuMs) / (at - before.at)
    before = { stats, at }
    return keyValues(statsFacts(stats, cpus), style)
  }
}

async function repeat(context: Context, look: Look): Promise<void> {
  using interrupts = new Interrupts()
  const { stdout } = context.streams
  const style = styleFor(stdout, context.globals)
  let linesBefore = 0
  while (!interrupts.signal.aborted) {
    const text = await look(style)
    // On a terminal the new numbers replace the old ones; elsewhere they follow them.
    const back = linesBefore > 0 && stdout.isTTY ? `\u001b[${linesBefore}A\u001b[J` : ''
    await write(stdout, `${back}${text}\n${stdout.isTTY ? '' : '\n'}`)
    linesBefore = text.split('\n').length
    await Promise.race([sleep(watchMs, undefined, { ref: true }), interrupts.arrived])
  }
}
