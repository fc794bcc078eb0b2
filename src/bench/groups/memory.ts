import { copiedReasons } from '../../model/copied-reasons.ts'
import { removeBranches } from '../homes/bench-home.ts'
import { Recorder } from '../recorder.ts'
import type { Series } from '../results.ts'
import { idleShell } from '../workloads/idle-shell.ts'
import { programs } from '../workloads/programs.ts'
import { pythonSession, pythonWithMmap } from '../workloads/python.ts'
import type { Workload } from '../workloads/workload.ts'
import type { Bench } from './bench.ts'
import { isInstalled } from './subjects.ts'

/** How much of its memory a fork shares with its snapshot, how much is copied for it, and why. */
export async function measureMemory(bench: Bench): Promise<readonly Series[]> {
  const { sessionMb, programs: names } = bench.plan
  const workloads = [
    idleShell,
    pythonSession(sessionMb),
    pythonWithMmap(sessionMb),
    ...names.map((name) => programs[name]),
  ]
  const recorder = new Recorder()
  for (const workload of workloads) {
    if (!(await isInstalled(bench, workload))) continue
    bench.say(`memory: ${workload.name}`)
    await bench.attempt(`memory of ${workload.name}`, () => measure(bench, workload, recorder))
  }
  return recorder.series
}

/** Once: it does not depend on how busy the machine is. */
async function measure({ cold }: Bench, workload: Workload, recorder: Recorder): Promise<void> {
  await using started = new AsyncDisposableStack()
  started.defer(() => removeBranches(cold))
  const env = await cold.create({ from: 'host' })
  await workload.start(env)
  const snapshot = await env.snapshot()
  const { memory } = await snapshot.info()
  if (!memory) throw new Error(`${snapshot.id} has no processes`)
  const add = (what: string, bytes: number) =>
    recorder.add({ by: 'forkpoint', what, on: workload.name }, 'bytes', bytes)
  add('shared', memory.sharedBytes)
  add('copied', memory.copiedBytes)
  for (const { command, why, bytes } of copiedReasons(memory)) {
    add(`copied of ${command} (${why})`, bytes)
  }
  for (const fork of await snapshot.fork(1)) await workload.check(fork)
}
