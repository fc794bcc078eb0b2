import type { Environment, Snapshot } from '../../index.ts'
import { formatBytes } from '../../model/values/quantities.ts'
import { removeBranches } from '../homes/bench-home.ts'
import { availableBytes, settledAvailableBytes } from '../machine.ts'
import { privateBytesOf } from '../process-memory.ts'
import { Recorder, timed } from '../recorder.ts'
import type { Series } from '../results.ts'
import { pythonName, pythonSession } from '../workloads/python.ts'
import { run } from '../workloads/workload.ts'
import { type Bench, roundName, roundsOf } from './bench.ts'

/** The part of the available memory that forks may use, so that the kernel kills nothing else. */
const mostOfMemory = 0.7

/** How the time and private memory of forks depend on how many are made at once. */
export async function measureFanout(bench: Bench): Promise<readonly Series[]> {
  await using started = new AsyncDisposableStack()
  started.defer(() => removeBranches(bench.cold))
  const { plan } = bench
  const env = await bench.cold.create({ from: 'host' })
  await pythonSession(plan.sessionMb).start(env)
  const snapshot = await (await env.snapshot()).durable()
  const counted = new Recorder()
  for (const round of roundsOf(plan)) {
    const recorder = round < 0 ? new Recorder() : counted
    let bytesPerFork = 0
    for (const count of plan.forks) {
      if (bytesPerFork * count > availableBytes() * mostOfMemory) {
        bench.miss({ what: `${count} forks`, why: `each takes ${formatBytes(bytesPerFork)} here` })
        break
      }
      bench.say(`fanout, ${roundName(round, plan)}: ${count} forks`)
      bytesPerFork = (await measureForks(snapshot, count, plan.sessionMb, recorder)) / count
    }
  }
  return counted.series
}

/** Resolves to the total bytes they hold. */
async function measureForks(
  snapshot: Snapshot,
  count: number,
  sessionMb: number,
  recorder: Recorder,
): Promise<number> {
  const on = pythonName(sessionMb)
  const subject = (what: string) => ({ by: 'forkpoint', what, on, at: count }) as const
  const before = await settledAvailableBytes()
  const { ms, result: forks } = await timed(() => snapshot.fork(count, { atomic: true }))
  try {
    recorder.add(subject('fork, all'), 'ms', ms)
    recorder.add(subject('fork, per copy'), 'ms', ms / count)
    await checkIdentities(forks)
    for (const fork of forks) await pythonSession(sessionMb).check(fork)
    recorder.add(subject('memory less available'), 'bytes', before - availableBytes())
    recorder.add(subject('memory charged'), 'bytes', await chargedTo(forks))
    const held = privateBytesOf(forks.map(({ id }) => id))
    recorder.add(subject('private memory'), 'bytes', held)
    return held
  } finally {
    await Promise.all(forks.map((fork) => fork.remove()))
  }
}

/** As the kernel charges their cgroups: page tables count, and so do file pages that they read first. */
async function chargedTo(forks: readonly Environment[]): Promise<number> {
  const all = await Promise.all(forks.map((fork) => fork.stats()))
  return all.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0)
}

/** Each fork reports its own identity, and no two report the same. */
async function checkIdentities(forks: readonly Environment[]): Promise<void> {
  const answers = await Promise.all(
    forks.map((fork) => run(fork, 'hostname; cat /run/forkpoint/identity.json')),
  )
  for (const [i, text] of answers.entries()) {
    const { id } = forks[i] ?? {}
    if (id === undefined || !text.includes(id)) throw new Error(`${id} answered as ${text}`)
  }
  const hostnames = new Set(answers.map((text) => text.split('\n')[0]))
  if (hostnames.size !== forks.length) throw new Error('two forks have the same hostname')
}
