import { parseArgs } from 'node:util'
import { formatBytes, formatDuration } from '../model/values/quantities.ts'
import { type CommandTimes, measureCommands } from './server/command-line.ts'
import { measureEmbedded, measureServed, type Served } from './server/measure.ts'
import type { Tally } from './server/tally.ts'
import { median, percentile } from './statistics.ts'

/**
 * How a daemon bears many clients, and its own death:
 * `npm run bench:server [-- --clients 200 --seconds 60 --kill 20]`. With `-- --commands 20`, how long commands
 * take through it instead, that many times each.
 */

function showTally(name: string, { execMs, errors, branched, whole }: Tally): void {
  const [p50, p95] = [median(execMs), percentile(execMs, 0.95)].map(formatDuration)
  const counts = `n ${execMs.length}, branched ${branched}, streams ${whole}, errors ${errors.length}`
  console.log(`${name.padEnd(10)} exec p50 ${p50}, p95 ${p95}; ${counts}`)
  for (const error of new Set(errors)) console.log(`  ${error}`)
}

/** Prints a figure and whether it is as promised. */
function judge(what: string, isKept: boolean, promised: string): void {
  console.log(`${what} (${promised}${isKept ? '' : ': MISSED'})`)
  if (!isKept) process.exitCode = 1
}

function showServed(served: Served, wantedKills: number): void {
  const { residentBytes, idle, kills, lost, tally } = served
  const [early, late] = residentBytes
  const growth = (late / early - 1) * 100
  if (wantedKills === 0) {
    const from = `${formatBytes(early)} after a third of the load, ${formatBytes(late)} at its end`
    judge(`daemon memory: ${from}: ${growth.toFixed(1)} %`, growth < 5, 'under 5 %')
  }
  const { bytes, addedBytes } = idle
  const added = `${formatBytes(addedBytes)} more, ${formatBytes(bytes)} in all`
  judge(`1000 idle connections: ${added}`, bytes < 150e6, 'under 150 MB in all')
  const told = tally.environments.length + tally.snapshots.length
  const there = `${told - lost.length} of ${told} environments and ready snapshots are there`
  judge(`killed ${kills} times`, kills === wantedKills, `${wantedKills} wanted`)
  judge(there, lost.length === 0, 'none lost')
  console.log(`${tally.whole} streams had each byte once; others are among the errors`)
}

function showCommands({ node, exec, fork, restore }: CommandTimes): void {
  const shown = (ms: readonly number[]) => `${formatDuration(median(ms))} (n ${ms.length})`
  const times = (ms: readonly number[], base: readonly number[]) => median(ms) / median(base)
  console.log(`node -e 0: ${shown(node)}`)
  const execTimes = times(exec, node)
  judge(`exec: ${shown(exec)}, ${execTimes.toFixed(2)}× node`, execTimes <= 2, 'at most 2×')
  for (const [name, ms] of Object.entries({ fork, restore })) {
    const [ofNode, ofExec] = [times(ms, node), times(ms, exec)]
    const figures = `${shown(ms)}, ${ofNode.toFixed(2)}× node, ${ofExec.toFixed(2)}× exec`
    judge(`${name} from a spare: ${figures}`, ofExec <= 1.3, 'at most 1.3× exec')
  }
}

async function showLoad(clients: number, seconds: number, wantedKills: number): Promise<void> {
  const wanted = { clients, seconds }
  console.log(`${clients} clients for ${seconds} s`)
  const embedded = await measureEmbedded(wanted)
  showTally('embedded', embedded)
  const served = await measureServed(wanted, wantedKills)
  showTally('daemon', served.tally)
  const times = percentile(served.tally.execMs, 0.95) / percentile(embedded.execMs, 0.95)
  const compared = `p95 through the daemon: ${times.toFixed(2)}× embedded`
  // Commands that wait for the next daemon are not compared.
  if (wantedKills > 0) console.log(compared)
  else judge(compared, times < 3, 'under 3×')
  judge(`errors: ${served.tally.errors.length}`, served.tally.errors.length === 0, 'none')
  showServed(served, wantedKills)
}

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '60' },
    kill: { type: 'string', default: '0' },
    commands: { type: 'string' },
  },
})
if (values.commands !== undefined) showCommands(await measureCommands(Number(values.commands)))
else await showLoad(Number(values.clients), Number(values.seconds), Number(values.kill))
