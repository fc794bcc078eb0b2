import type { Snapshot } from '../../index.ts'
import { removeBranches } from '../homes/bench-home.ts'
import { chainEnd } from '../plan.ts'
import { Recorder } from '../recorder.ts'
import type { Series } from '../results.ts'
import { idleShell } from '../workloads/idle-shell.ts'
import { run } from '../workloads/workload.ts'
import type { Bench } from './bench.ts'

const restoreRounds = 3

/** How snapshot and restore depend on the number of earlier snapshots. */
export async function measureChain(bench: Bench): Promise<readonly Series[]> {
  await using started = new AsyncDisposableStack()
  started.defer(() => removeBranches(bench.cold))
  const length = bench.plan.chainLength
  const recorder = new Recorder()
  const subject = (what: string, at: number) =>
    ({ by: 'forkpoint', what, on: idleShell.name, at }) as const
  const env = await bench.cold.create({ from: 'host' })
  await idleShell.start(env)
  await env.snapshot()
  const chain: Snapshot[] = []
  for (let depth = 1; depth <= length; depth += 1) {
    if (depth % 10 === 1) bench.say(`chain: snapshot ${depth} of ${length}`)
    await run(env, `echo ${depth} > /root/depth`)
    const taken = await recorder.time(subject('snapshot', depth), () => env.snapshot())
    chain.push(await taken.durable())
  }
  for (let round = 0; round < restoreRounds; round += 1) {
    bench.say(`chain: restoring, round ${round + 1} of ${restoreRounds}`)
    for (const depth of inTurns(restoreDepths(length))) {
      const snapshot = chain[depth - 1]
      if (snapshot === undefined) continue
      await recorder.time(subject('restore', depth), () => env.restore(snapshot))
      const found = await run(env, 'cat /root/depth')
      if (found !== `${depth}\n`) throw new Error(`restored depth ${depth}, but found ${found}`)
    }
  }
  return recorder.series
}

/** Both ends of the chain, and every tenth snapshot. */
export function restoreDepths(length: number): number[] {
  const depths = Array.from({ length }, (_, i) => i + 1)
  const step = Math.max(1, Math.floor(length / 10))
  return depths.filter((d) => d <= chainEnd || d > length - chainEnd || d % step === 0)
}

/** Alternates shallow and deep ones, so that a slow moment of the machine affects both. */
export function inTurns(depths: readonly number[]): number[] {
  const half = Math.ceil(depths.length / 2)
  return depths
    .slice(0, half)
    .flatMap((depth, i) => [depth, ...depths.slice(half + i, half + i + 1)])
}
