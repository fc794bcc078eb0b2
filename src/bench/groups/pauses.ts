import { pruneFlushed } from '../homes/bench-home.ts'
import { type Engine, inTurn } from '../homes/engine.ts'
import { writtenBytes } from '../homes/written-bytes.ts'
import { Recorder } from '../recorder.ts'
import type { Series } from '../results.ts'
import { crowd } from '../workloads/crowd.ts'
import { idleShell } from '../workloads/idle-shell.ts'
import { installing } from '../workloads/installing.ts'
import { programs } from '../workloads/programs.ts'
import { pythonSession } from '../workloads/python.ts'
import { watcher } from '../workloads/watcher.ts'
import type { Workload } from '../workloads/workload.ts'
import { type Bench, roundName, roundsOf } from './bench.ts'
import { pauseDuring } from './pause.ts'
import { isInstalled } from './subjects.ts'

/** How long a snapshot stops an environment, as a process inside sees it: the first time, and again. */
export async function measurePauses(bench: Bench): Promise<readonly Series[]> {
  const workloads: Workload[] = []
  for (const workload of workloadsOf(bench)) {
    if (await isInstalled(bench, workload)) workloads.push(workload)
  }
  const counted = new Recorder()
  for (const round of roundsOf(bench.plan)) {
    const recorder = round < 0 ? new Recorder() : counted
    for (const workload of workloads) {
      for (const engine of inTurn(bench.engines, round)) {
        const step = `pause, ${roundName(round, bench.plan)}: ${workload.name}, ${engine.by}`
        bench.say(step)
        const { changedMb } = bench.plan.pause
        await bench.attempt(step, () => measureSnapshots(engine, workload, { recorder, changedMb }))
      }
    }
  }
  return counted.series
}

function workloadsOf({ plan }: Bench): Workload[] {
  const { pythonMb, processes, watches, packages } = plan.pause
  return [
    idleShell,
    ...plan.programs.filter((name) => name === 'chromium').map((name) => programs[name]),
    watcher(watches),
    ...processes.map(crowd),
    ...pythonMb.map(pythonSession),
    installing(packages),
  ]
}

/** A snapshot, another with nothing changed, and one after a change of known size. */
async function measureSnapshots(
  { by, cold }: Engine,
  workload: Workload,
  { recorder, changedMb }: { readonly recorder: Recorder; readonly changedMb: number },
): Promise<void> {
  const env = await cold.create({ from: 'host' })
  const measure = async (which: string) => {
    const { pauseMs, result } = await pauseDuring(env, () => env.snapshot())
    recorder.add({ by, what: `pause, ${which}`, on: workload.name }, 'ms', pauseMs)
    const written = writtenBytes(await result.durable())
    recorder.add({ by, what: `written, ${which}`, on: workload.name }, 'bytes', written)
  }
  try {
    await workload.start(env)
    await measure('first snapshot')
    await measure('second snapshot')
    if (workload.change !== undefined) {
      await workload.change(env, changedMb)
      await measure(`${changedMb} MB changed`)
    }
    await workload.check(env)
  } finally {
    await env.remove()
    await pruneFlushed(cold)
  }
}
