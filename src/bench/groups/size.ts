import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment, Snapshot } from '../../index.ts'
import { removeBranches } from '../homes/bench-home.ts'
import type { Peer } from '../peers/peer.ts'
import { plainCriu } from '../peers/plain-criu.ts'
import { makePeerStage, pythonProgram } from '../peers/stage.ts'
import { Recorder } from '../recorder.ts'
import type { Series } from '../results.ts'
import { pythonSession } from '../workloads/python.ts'
import { type Bench, roundName, roundsOf } from './bench.ts'

interface Session {
  readonly mb: number
  readonly env: Environment
  readonly snapshot: Snapshot
  readonly peer: Peer
}

/** How fork and restore depend on the amount of memory, compared with plain CRIU. */
export async function measureSize(bench: Bench): Promise<readonly Series[]> {
  await using started = new AsyncDisposableStack()
  started.defer(() => removeBranches(bench.cold))
  const sessions = await startSessions(bench, started)
  const counted = new Recorder()
  for (const round of roundsOf(bench.plan)) {
    const recorder = round < 0 ? new Recorder() : counted
    for (const session of sessions) {
      bench.say(`size, ${roundName(round, bench.plan)}: ${session.mb} MB`)
      await measureSession(session, recorder)
    }
  }
  return counted.series
}

async function startSessions(bench: Bench, started: AsyncDisposableStack): Promise<Session[]> {
  const dir = join(bench.dir, 'size')
  mkdirSync(dir)
  const stage = makePeerStage(dir, bench)
  const sessions: Session[] = []
  for (const mb of bench.plan.sizesMb) {
    bench.say(`size: starting sessions of ${mb} MB`)
    const peer = started.use(await plainCriu.start(stage, pythonProgram(mb)))
    const env = await bench.cold.create({ from: 'host' })
    await pythonSession(mb).start(env)
    const snapshot = await env.snapshot()
    sessions.push({ mb, env, snapshot: await snapshot.durable(), peer })
  }
  return sessions
}

async function measureSession({ mb, env, snapshot, peer }: Session, recorder: Recorder) {
  const subject = (what: string) => ({ by: 'forkpoint', what, on: 'Python', at: mb }) as const
  await recorder.time(subject('restore'), () => env.restore(snapshot))
  const made = await recorder.time(subject('fork'), () => snapshot.fork(1, { atomic: true }))
  for (const copy of made) {
    await pythonSession(mb).check(copy)
    await copy.remove()
  }
  await peer.round((what, ms) =>
    recorder.add({ by: peer.by, what, on: 'Python', at: mb }, 'ms', ms),
  )
}
