import { statfsSync } from 'node:fs'
import type { Environment, Forkpoint, Snapshot } from '../../index.ts'
import { branchesOf, removeBranches } from '../homes/bench-home.ts'
import { syncHome, volumesOf } from '../homes/volumes.ts'
import { availableBytes, settledAvailableBytes } from '../machine.ts'
import { cgroupMemory, familyOf } from '../process-memory.ts'
import { Recorder } from '../recorder.ts'
import type { Series } from '../results.ts'
import { pythonName, pythonSession } from '../workloads/python.ts'
import { run, type Workload } from '../workloads/workload.ts'
import type { Bench } from './bench.ts'

const mostEnvironments = 6
const keptSnapshots = 4

interface Soak {
  readonly fp: Forkpoint
  readonly workload: Workload
  readonly recorder: Recorder
}

/** Branches at random for a long time; then memory and disk must match `usage`. */
export async function measureSoak(bench: Bench): Promise<readonly Series[]> {
  await using started = new AsyncDisposableStack()
  const fp = bench.warm
  started.defer(() => removeBranches(fp))
  const { sessionMb, soakMs } = bench.plan
  const workload = pythonSession(sessionMb)
  const recorder = new Recorder()
  const first = await fp.create({ from: 'host' })
  const before = { disk: await usedDisk(bench.home), memory: await settledAvailableBytes() }
  await workload.start(first)
  await first.snapshot()
  const began = performance.now()
  for (let step = 1; performance.now() - began < soakMs; step += 1) {
    const leftMs = soakMs - (performance.now() - began)
    bench.say(`soak: step ${step}, ${Math.ceil(leftMs / 60_000)} min left`)
    await randomStep({ fp, workload, recorder })
  }
  bench.say('soak: comparing with usage')
  for (const snapshot of await fp.snapshots()) await snapshot.durable()
  for (const env of await branchesOf(fp)) await workload.check(env)
  const on = pythonName(sessionMb)
  const note = (what: string, bytes: number) =>
    recorder.add({ by: 'forkpoint', what, on }, 'bytes', Math.max(0, bytes))
  await fp.sparesReady()
  const { totals } = await fp.usage()
  note('disk by usage', totals.snapshotBytes + totals.environmentBytes)
  note('disk in use', (await usedDisk(bench.home)) - before.disk)
  note('memory by usage', totals.memoryBytes)
  note('memory in use', cgroupMemory(familyOf(first.id)))
  note('memory less available', before.memory - availableBytes())
  return recorder.series
}

async function randomStep({ fp, workload, recorder }: Soak): Promise<void> {
  const subject = (what: string) => ({ by: 'forkpoint', what, on: workload.name }) as const
  const environments = await branchesOf(fp)
  const snapshots = await fp.snapshots()
  const env = anyOf(environments)
  const snapshot = anyOf(snapshots)
  await work(env)
  switch (anyOf(['snapshot', 'snapshot', 'restore', 'restore', 'fork', 'remove', 'prune'])) {
    case 'snapshot':
      await recorder.time(subject('snapshot'), () => env.snapshot())
      break
    case 'restore':
      await recorder.time(subject('restore'), () => env.restore(snapshot))
      await workload.check(env)
      break
    case 'fork':
      if (environments.length < mostEnvironments) await fork(snapshot, workload, recorder)
      break
    case 'remove':
      // The first stays: it shows where the processes of this home are.
      if (environments.length > 2) await environments.at(-1)?.remove()
      break
    case 'prune':
      await fp.prune({ keepLast: keptSnapshots })
  }
}

async function fork(snapshot: Snapshot, workload: Workload, recorder: Recorder): Promise<void> {
  const subject = { by: 'forkpoint', what: 'fork', on: workload.name } as const
  const made = await recorder.time(subject, () => snapshot.fork(1, { atomic: true }))
  for (const copy of made) await workload.check(copy)
}

/** Changes files, as a working program does. */
async function work(env: Environment): Promise<void> {
  const name = `/root/soak-${Math.floor(Math.random() * 8)}`
  await run(env, `head -c ${Math.ceil(Math.random() * 4e6)} /dev/urandom > ${name}`)
}

function anyOf<T>(all: readonly T[]): T {
  const one = all[Math.floor(Math.random() * all.length)]
  if (one === undefined) throw new Error('no environment is left to choose from')
  return one
}

/** As the file systems count it, which includes deleted files that are not freed yet. */
async function usedDisk(home: string): Promise<number> {
  await syncHome(home)
  return volumesOf(home)
    .map((volume) => statfsSync(volume))
    .reduce((sum, { bsize, blocks, bfree }) => sum + bsize * (blocks - bfree), 0)
}
