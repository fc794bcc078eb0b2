import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment, Snapshot } from '../../index.ts'
import { PrerequisiteError, UnsupportedError } from '../../model/errors.ts'
import { type PortableWorkload, portablePython, portableShell } from '../backends/portable.ts'
import { type BackendSources, makeBackendSources } from '../backends/sources.ts'
import { pauseInAny } from '../backends/ticker.ts'
import { inTurn } from '../homes/engine.ts'
import { writtenBytes } from '../homes/written-bytes.ts'
import { Recorder } from '../recorder.ts'
import type { BackendBy, BackendName, Series } from '../results.ts'
import { runTool } from '../run-tool.ts'
import { run } from '../workloads/workload.ts'
import { type Bench, roundName, roundsOf } from './bench.ts'

/** One workload, measured once on one backend. */
interface Turn {
  readonly bench: Bench
  readonly backend: BackendName
  readonly workload: PortableWorkload
  readonly recorder: Recorder
  readonly subject: (what: string) => { by: BackendBy; what: string; on: string }
}

/** The same workloads with the same calls on every backend, which take turns. */
export async function measureBackends(bench: Bench): Promise<readonly Series[]> {
  const dir = join(bench.dir, 'backends')
  mkdirSync(dir)
  const sources = makeBackendSources(dir)
  const here = await backendsHere(bench, sources)
  const counted = new Recorder()
  for (const round of roundsOf(bench.plan)) {
    const recorder = round < 0 ? new Recorder() : counted
    for (const workload of [portableShell, portablePython(bench.plan.backends.pythonMb)]) {
      for (const backend of inTurn(here, round)) {
        const step = `backends, ${roundName(round, bench.plan)}: ${workload.name}, ${backend}`
        bench.say(step)
        const by: BackendBy = `${backend} backend`
        const subject = (what: string) => ({ by, what, on: workload.name })
        const turn = { bench, backend, workload, recorder, subject }
        await bench.attempt(step, () => measureTurn(turn, sources.of(backend)))
      }
    }
  }
  return counted.series
}

/** Those that can make an environment here. It also builds their images, which is not measured. */
async function backendsHere(bench: Bench, sources: BackendSources): Promise<BackendName[]> {
  const here: BackendName[] = []
  for (const backend of bench.plan.backends.names) {
    bench.say(`backends: looking for ${backend}`)
    const why = await whyMissing(bench, backend, sources.of(backend))
    bench.found({ backend, captured: [], missing: why })
    if (why === null) here.push(backend)
  }
  return here
}

async function whyMissing(
  { warm }: Bench,
  backend: BackendName,
  from: string,
): Promise<string | null> {
  try {
    await (await warm.create({ backend, from })).remove()
    return null
  } catch (error) {
    if (!(error instanceof PrerequisiteError)) throw error
    return error.remedy === undefined ? error.message : `${error.message}; ${error.remedy}`
  }
}

async function measureTurn(turn: Turn, from: string): Promise<void> {
  const { bench, backend, workload, recorder, subject } = turn
  const made: Environment[] = []
  // Engines that commit files do not flush them, and would do so during the measurements of others.
  await runTool('sync', [])
  try {
    const env = await recorder.time(subject('create'), async () =>
      answering(await bench.warm.create({ backend, from })),
    )
    made.push(env)
    await workload.start(env)
    await workload.ask(env)
    for (let i = 0; i < bench.plan.backends.execs; i += 1) {
      await recorder.time(subject('exec'), () => answering(env))
    }
    const first = await pauseInAny(env, () => env.snapshot())
    recorder.add(subject('pause seen inside'), 'ms', first.pauseMs)
    await settled(bench, first.result)
    await workload.ask(env)
    const snapshot = await recorder.time(subject('snapshot'), async () => {
      const taken = await env.snapshot()
      await answering(env)
      return taken
    })
    await noteSnapshot(turn, await settled(bench, snapshot))
    await recorder.time(subject('restore'), async () => {
      await env.restore(snapshot)
      await answering(env)
    })
    await bench.warm.sparesReady()
    made.push(...(await measureFork(turn, snapshot)))
  } finally {
    for (const each of made) await each.remove({ force: true })
    await bench.warm.prune()
  }
}

/** Until the shell of a fork answers, and until the program in it does. */
async function measureFork(
  { workload, recorder, subject }: Turn,
  snapshot: Snapshot,
): Promise<readonly Environment[]> {
  const began = performance.now()
  const forks = await snapshot.fork(1, { atomic: true })
  for (const fork of forks) {
    await answering(fork)
    recorder.add(subject('fork'), 'ms', performance.now() - began)
    if (!snapshot.lastInfo.captured.includes('processes')) await workload.startAgain(fork)
    await workload.ask(fork)
    recorder.add(subject('first reply'), 'ms', performance.now() - began)
    const { memory } = await fork.stats()
    recorder.add(subject('memory of a fork'), 'bytes', memory.privateBytes)
  }
  return forks
}

async function noteSnapshot(
  { bench, backend, recorder, subject }: Turn,
  snapshot: Snapshot,
): Promise<void> {
  const { captured } = snapshot.lastInfo
  bench.found({ backend, captured, missing: null })
  recorder.add(subject('bytes of a snapshot'), 'bytes', writtenBytes(snapshot))
}

/** Waits for its flush and its spares, which would slow down the next measurement. */
async function settled({ warm }: Bench, snapshot: Snapshot): Promise<Snapshot> {
  await warm.sparesReady()
  try {
    return await snapshot.durable()
  } catch (error) {
    // A backend that cannot promise to be durable has no flush to wait for.
    if (error instanceof UnsupportedError) return snapshot
    throw error
  }
}

/** An operation is over when the environment answers. */
async function answering(env: Environment): Promise<Environment> {
  await run(env, ':')
  return env
}
