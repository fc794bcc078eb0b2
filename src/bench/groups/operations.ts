import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment, Snapshot, Spare } from '../../index.ts'
import { pruneFlushed } from '../bench-home.ts'
import { makePeerStage } from '../peers/stage.ts'
import { privateBytesOf } from '../process-memory.ts'
import { Recorder, timed } from '../recorder.ts'
import type { Series } from '../results.ts'
import type { Workload } from '../workloads/workload.ts'
import { type Bench, roundName, roundsOf } from './bench.ts'
import { pauseSeenInside } from './pause.ts'
import { startSubjects } from './subjects.ts'

const copies = 4
/** A snapshot of nothing new takes a moment: a median of few of them would be one of the noise. */
const repeats = 3

/** Every operation on every workload, and what peers take for the nearest thing, in turns. */
export async function measureOperations(bench: Bench): Promise<readonly Series[]> {
  await using started = new AsyncDisposableStack()
  const dir = join(bench.dir, 'ops')
  mkdirSync(dir)
  const subjects = await startSubjects(bench, makePeerStage(dir, bench), started)
  const counted = new Recorder()
  for (const round of roundsOf(bench.plan)) {
    const recorder = round < 0 ? new Recorder() : counted
    for (const { workload, peers } of subjects) {
      const here = `operations, ${roundName(round, bench.plan)}: ${workload.name}`
      bench.say(here)
      await bench.attempt(here, () => measureOurs(bench, workload, recorder))
      for (const peer of peers) {
        bench.say(`${here}, ${peer.by}`)
        const note = (what: string, ms: number) =>
          recorder.add({ by: peer.by, what, on: workload.name }, 'ms', ms)
        await bench.attempt(`${here}, ${peer.by}`, () => peer.round(note))
      }
    }
  }
  return counted.series
}

async function measureOurs(bench: Bench, workload: Workload, recorder: Recorder): Promise<void> {
  const subject = (what: string) => ({ by: 'forkpoint', what, on: workload.name }) as const
  const env = await bench.cold.create({ from: 'host' })
  try {
    await workload.start(env)
    const takeSnapshot = async (what: string) => {
      const taken = await recorder.time(subject(what), () => env.snapshot())
      // Its flush would slow down what is measured next.
      recorder.add(subject(`${what}, written`), 'bytes', writtenBytes(await taken.durable()))
      return taken
    }
    await takeSnapshot('first snapshot')
    let second = await takeSnapshot('second snapshot')
    for (let i = 1; i < repeats; i += 1) second = await takeSnapshot('second snapshot')
    await recorder.time(subject('restore'), () => env.restore(second))
    await workload.check(env)
    await measureForks(workload, second, recorder)
    await measureWarm(bench, workload, env, recorder)
    // One that is made meanwhile would be in the way.
    await bench.warm.sparesReady()
    recorder.add(subject('pause seen inside'), 'ms', await pauseSeenInside(env))
  } finally {
    await env.remove()
    await pruneFlushed(bench.cold)
  }
}

function writtenBytes({ sizes }: Snapshot): number {
  return sizes.imagesBytes + (sizes.filesBytes ?? 0)
}

async function measureForks(
  workload: Workload,
  snapshot: Snapshot,
  recorder: Recorder,
): Promise<void> {
  const subject = (what: string) => ({ by: 'forkpoint', what, on: workload.name }) as const
  const one = await recorder.time(subject('fork of 1'), () => snapshot.fork(1, { atomic: true }))
  try {
    for (const copy of one) {
      await workload.check(copy)
      recorder.add(subject('private memory of a fork'), 'bytes', privateBytesOf([copy.id]))
    }
  } finally {
    await removeEach(one)
  }
  const four = await timed(() => snapshot.fork(copies, { atomic: true }))
  await removeEach(four.result)
  recorder.add(subject(`fork of ${copies}, per copy`), 'ms', four.ms / copies)
}

/** A restore and a fork for which the next branch was already prepared. */
async function measureWarm(
  bench: Bench,
  workload: Workload,
  env: Environment,
  recorder: Recorder,
): Promise<void> {
  const subject = (what: string) => ({ by: 'forkpoint', what, on: workload.name }) as const
  const same = await bench.warm.get(env.id)
  const snapshot = await same.snapshot()
  await snapshot.durable()
  if (await isReady(bench, 'restore', snapshot, workload)) {
    await recorder.time(subject('restore from a spare'), () => same.restore(snapshot))
    await workload.check(same)
  }
  if (await isReady(bench, 'fork', snapshot, workload)) {
    const made = await recorder.time(subject('fork from a spare'), () =>
      snapshot.fork(1, { atomic: true }),
    )
    await Promise.all(made.map((copy) => workload.check(copy)))
    await removeEach(made)
  }
}

/** One that would take too much memory is not kept. */
async function isReady(
  { warm, miss }: Bench,
  kind: Spare['kind'],
  { id }: Snapshot,
  { name }: Workload,
): Promise<boolean> {
  await warm.sparesReady()
  const spares = await warm.spares()
  if (spares.some((spare) => spare.kind === kind && spare.snapshot === id)) return true
  miss({ what: `${kind} from a spare, ${name}`, why: 'no spare was kept ready' })
  return false
}

async function removeEach(all: readonly Environment[]): Promise<void> {
  await Promise.all(all.map((each) => each.remove()))
}
