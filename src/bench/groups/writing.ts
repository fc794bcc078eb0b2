import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../index.ts'
import { removeBranches } from '../homes/bench-home.ts'
import { type Engine, inTurn } from '../homes/engine.ts'
import { syncHome } from '../homes/volumes.ts'
import { Recorder, timed } from '../recorder.ts'
import type { Series } from '../results.ts'
import { runLong } from '../workloads/workload.ts'
import { makeWritingStage } from '../writing/stage.ts'
import { type Task, writingTasks } from '../writing/tasks.ts'
import { type Bench, roundName, roundsOf } from './bench.ts'
import { isInstalled } from './subjects.ts'

/** An environment to write in. */
interface Writer {
  readonly engine: Engine
  readonly env: Environment
}

/** How fast programs inside write files, compared with the same environment on a volume of ext4. */
export async function measureWriting(bench: Bench): Promise<readonly Series[]> {
  await using started = new AsyncDisposableStack()
  const ext4 = started.use(await bench.openExt4())
  const engines = [...bench.engines, ext4]
  // What is removed in the background would disturb later rounds, so all stay until the end.
  for (const { cold } of engines) started.defer(() => removeBranches(cold))
  const tasks = await prepareTasks(bench)
  const counted = new Recorder()
  for (const round of roundsOf(bench.plan)) {
    const recorder = round < 0 ? new Recorder() : counted
    const writers: Writer[] = []
    for (const engine of inTurn(engines, round)) {
      writers.push({ engine, env: await engine.cold.create({ from: 'host' }) })
    }
    for (const task of tasks) {
      bench.say(`writing, ${roundName(round, bench.plan)}: ${task.name}`)
      for (const writer of writers) await measureTask(task, writer, recorder)
    }
  }
  return counted.series
}

async function prepareTasks(bench: Bench): Promise<Task[]> {
  bench.say('writing: collecting files of the host')
  const dir = join(bench.dir, 'writing')
  mkdirSync(dir)
  const { writing } = bench.plan
  const here: Task[] = []
  for (const task of writingTasks(await makeWritingStage(dir, writing), writing)) {
    const { name, needs } = task
    if (needs === undefined || (await isInstalled(bench, { name, needs: [needs] }))) here.push(task)
  }
  return here
}

/** Notes the time until the command returns, and until what it wrote is on disk. */
async function measureTask(task: Task, { engine, env }: Writer, recorder: Recorder): Promise<void> {
  const { by, home } = engine
  await syncHome(home)
  const { ms } = await timed(() => runLong(env, task.command))
  recorder.add({ by, what: 'until it returns', on: task.name }, 'ms', ms)
  const synced = await timed(() => syncHome(home))
  if (task.writes) recorder.add({ by, what: 'until sync', on: task.name }, 'ms', ms + synced.ms)
  if (task.cleanUp !== undefined) await runLong(env, task.cleanUp)
}
