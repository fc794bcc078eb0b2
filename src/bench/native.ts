import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Forkpoint } from '../index.ts'
import { formatDuration } from '../model/quantities.ts'
import { startOurs } from './native/ours.ts'
import type { Peer } from './native/peer.ts'
import { startPlainCriu } from './native/plain-criu.ts'
import { startPodman, whyNoPodman } from './native/podman.ts'
import { median, percentile, type Samples } from './native/samples.ts'
import { makeRootfs } from './native/workload.ts'

/**
 * Snapshot, restore and fork of a shell with a ticking process, against `podman container
 * checkpoint` and plain CRIU, in turns: `npm run bench:native [-- --json] [-- --rounds N]`.
 */

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '15' },
  },
})

/** What is compared with what, and how many times faster it is to be. */
const comparisons: readonly [ours: string, theirs: string, promised: number | null][] = [
  ['forkpoint snapshot', 'podman container checkpoint', 2],
  ['forkpoint restore', 'podman container restore', 2],
  ['forkpoint fork, per copy of 4', 'podman container restore', 4],
  ['forkpoint restore', 'criu restore', null],
]

function say(text: string): void {
  if (!values.json) console.log(text)
}

async function measure(peers: readonly Peer[], rounds: number): Promise<Samples> {
  const warmUp: Samples = new Map()
  for (const peer of peers) await peer.round(warmUp)
  const samples: Samples = new Map()
  for (let round = 0; round < rounds; round += 1) {
    for (const peer of peers) await peer.round(samples)
  }
  return samples
}

function show(samples: Samples): void {
  for (const [what, all] of samples) {
    const [p50, p95] = [median(all), percentile(all, 0.95)].map(formatDuration)
    say(`${what.padEnd(32)} p50 ${p50?.padStart(8)}   p95 ${p95?.padStart(8)}   n ${all.length}`)
  }
  say('')
  for (const [ours, theirs, promised] of comparisons) {
    const [fast, slow] = [samples.get(ours), samples.get(theirs)]
    if (!fast || !slow) continue
    const ratio = median(slow) / median(fast)
    const verdict = promised === null ? '' : ratio >= promised ? `at least ${promised}×` : 'MISSED'
    say(`${ours.padEnd(32)} ${ratio.toFixed(1).padStart(5)}× as fast as ${theirs}   ${verdict}`)
  }
}

const dir = mkdtempSync('/var/tmp/forkpoint-bench-')
try {
  await using started = new AsyncDisposableStack()
  const rootfs = join(dir, 'rootfs')
  makeRootfs(rootfs)
  const fp = started.use(await Forkpoint.open())
  const criu = join(Forkpoint.settings().settings.runtime, 'criu/bin')
  const peers = [started.use(await startOurs(fp))]
  const missing = await whyNoPodman()
  if (missing === null) {
    peers.push(started.use(await startPodman(join(dir, 'podman'), rootfs, criu)))
  } else say(`no comparison with podman: ${missing}`)
  peers.push(started.use(await startPlainCriu(join(dir, 'criu'), rootfs, criu)))
  const samples = await measure(peers, Number(values.rounds))
  if (values.json) console.log(JSON.stringify(Object.fromEntries(samples), null, 2))
  else show(samples)
} finally {
  rmSync(dir, { recursive: true, force: true })
}
