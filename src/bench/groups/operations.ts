import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment, Snapshot, Spare } from '../../index.ts'
import { pruneFlushed } from '../homes/bench-home.ts'
import { type Engine, inTurn } from '../homes/engine.ts'
import { writtenBytes } from '../homes/written-bytes.ts'
import { makePeerStage } from '../peers/stage.ts'
import { privateBytesOf } from '../process-memory.ts'
import { Recorder, timed } from '../recorder.ts'
import type { EngineName, Series } from '../results.ts'
import type { Workload } from '../workloads/workload.ts'
import { type Bench, roundName, roundsOf } from './bench.ts'
import { pauseSeenInside } from './pause.ts'
import { startSubjects } from './subjects.ts'

const copies = 4
/** A snapshot without changes is so quick that the median of a single one per round would be noise. */
const repeats = 3

/** One workload, measured once with one engine. */
interface Turn {
  readonly engine: Engine
  readonly workload: Workload
  readonly recorder: Recorder
  readonly subject: (what: string) => { by: EngineName; what: string; on: string }
  readonly miss: Bench['miss']
}

/** Every operation on every workload, taking turns with the closest equivalent of each peer. */
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
      for (const engine of inTurn(bench.engines, round)) {
        const step = engine.by === 'forkpoint' ? here : `${here}, ${engine.by}`
        bench.say(step)
        const subject = (what: string) => ({ by: engine.by, what, on: workload.name })
        const turn = { engine, workload, recorder, subject, miss: bench.miss }
        await bench.attempt(step, () => measureEngine(turn))
      }
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

async function measureEngine(turn: Turn): Promise<void> {
  const { engine, workload, recorder, subject } = turn
  const env = await engine.cold.create({ from: 'host' })
  try {
    await workload.start(env)
    const takeSnapshot = async (what: string) => {
      const taken = await recorder.time(subject(what), () => env.snapshot())
      // Its flush would slow down the next measurement.
      recorder.add(subject(`${what}, written`), 'bytes', writtenBytes(await taken.durable()))
      return taken
    }
    await takeSnapshot('first snapshot')
    let second = await takeSnapshot('second snapshot')
    for (let i = 1; i < repeats; i += 1) second = await takeSnapshot('second snapshot')
    await recorder.time(subject('restore'), () => env.restore(second))
    await workload.check(env)
    await measureForks(turn, second)
    await measureWarm(turn, env)
    // A spare made at the same time would disturb the measurement.
    await engine.warm.sparesReady()
    recorder.add(subject('pause seen inside'), 'ms', await pauseSeenInside(env))
  } finally {
    await env.remove()
    await pruneFlushed(engine.cold)
  }
}

async function measureForks(
  { workload, recorder, subject }: Turn,
  snapshot: Snapshot,
): Promise<void> {
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

/** Measures a restore and a fork that find a spare. */
async function measureWarm(turn: Turn, env: Environment): Promise<void> {
  const { engine, workload, recorder, subject } = turn
  const same = await engine.warm.get(env.id)
  const snapshot = await same.snapshot()
  await snapshot.durable()
  if (await isReady(turn, 'restore', snapshot)) {
    await recorder.time(subject('restore from a spare'), () => same.restore(snapshot))
    await workload.check(same)
  }
  if (await isReady(turn, 'fork', snapshot)) {
    const made = await recorder.time(subject('fork from a spare'), () =>
      snapshot.fork(1, { atomic: true }),
    )
    await Promise.all(made.map((copy) => workload.check(copy)))
    await removeEach(made)
  }
}

/** A spare that would take too much memory is not kept. */
async function isReady(
  { engine: { warm }, workload, miss }: Turn,
  kind: Spare['kind'],
  { id }: Snapshot,
): Promise<boolean> {
  await warm.sparesReady()
  const spares = await warm.spares()
  if (spares.some((spare) => spare.kind === kind && spare.snapshot === id)) return true
  miss({ what: `${kind} from a spare, ${workload.name}`, why: 'no spare was kept ready' })
  return false
}

async function removeEach(all: readonly Environment[]): Promise<void> {
  await Promise.all(all.map((each) => each.remove()))
}
