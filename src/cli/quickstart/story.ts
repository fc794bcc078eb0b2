import type { Environment, Forkpoint, Snapshot } from '../../index.ts'
import { BackendError } from '../../model/errors.ts'
import { created, forked, promoted, removed, restored, taken } from '../render/layout/sentences.ts'
import { renderTree } from '../render/tree.ts'
import { compare } from './compare.ts'
import type { Narrator } from './narrator.ts'
import type { Stage } from './stage.ts'
import { attempt, attempts, preparation, prepare, startCounter, startServer } from './workload.ts'

/** Columns to the left of the tour's output. */
const margin = 4

/** The tour, from an empty environment to the tree of its branches. */
export async function tellStory(
  forkpoint: Forkpoint,
  stage: Stage,
  narrator: Narrator,
  columns: number | undefined,
): Promise<void> {
  const trunk = await begin(stage, narrator)
  const ready = await keep(stage, trunk, narrator)
  const tries = await branch(stage, ready, narrator)
  const best = await work(tries, narrator)
  await compare(ready, best, narrator)
  await win(trunk, best, narrator)
  await goBack(trunk, ready, narrator)
  await narrator.chapter('Look at the tree', '● is a snapshot, ▸ an environment on it.')
  const view = { nowMs: Date.now(), columns: columns === undefined ? undefined : columns - margin }
  await narrator.step(
    `forkpoint tree ${stage.name}`,
    () => forkpoint.tree(stage.name),
    (roots) => renderTree(roots, view, narrator.style),
  )
  await narrator.chapter('How long that took', 'Measured just now, on this machine.')
  await narrator.timings()
}

async function begin(stage: Stage, narrator: Narrator): Promise<Environment> {
  const { name } = stage
  await narrator.chapter(
    'Create an environment',
    "A computer of its own, over a copy-on-write view of this machine's files.",
  )
  const trunk = await timed(narrator, 'create', () =>
    narrator.step(
      `forkpoint create --name ${name}`,
      () => stage.create({ name, signal: narrator.signal }),
      created,
    ),
  )
  await narrator.chapter(
    'Get it into a state worth keeping',
    'A web server that counts visits in memory, a job that counts in the shell, a function, a file.',
  )
  await say(narrator, trunk, prepare, preparation)
  await say(narrator, trunk, startServer)
  await say(narrator, trunk, startCounter)
  return trunk
}

async function keep(stage: Stage, trunk: Environment, narrator: Narrator): Promise<Snapshot> {
  const name = `${stage.name}-ready`
  await narrator.chapter(
    'Take a snapshot',
    'Files, memory, processes and the shell together, while everything keeps running.',
  )
  const ready = await narrator.step(
    `forkpoint snapshot ${stage.name} --name ${name} -m 'server and counter run'`,
    () => trunk.snapshot({ name, message: 'server and counter run', signal: narrator.signal }),
    ({ lastInfo: info }) => taken(info),
  )
  const { totalMs, pauseMs } = ready.lastInfo.timing
  narrator.timing('snapshot', totalMs, 'the whole call')
  narrator.timing('  pause', pauseMs, 'no process inside ran for this long')
  return ready
}

async function branch(
  stage: Stage,
  ready: Snapshot,
  narrator: Narrator,
): Promise<readonly Environment[]> {
  const prefix = `${stage.name}-try`
  const count = attempts.length
  await narrator.chapter(
    'Fork it three ways',
    'Three more computers, each of which believes it has been running all along.',
  )
  const began = performance.now()
  const forks = await narrator.step(
    `forkpoint fork ${ready.name} -n ${count} --name ${prefix}`,
    async () => stage.add(await ready.fork(count, { name: prefix })),
    forked,
  )
  narrator.timing('fork', (performance.now() - began) / count, `per copy, ${count} at a time`)
  return forks
}

/** Tries something different in each; the smallest file wins. */
async function work(tries: readonly Environment[], narrator: Narrator): Promise<Environment> {
  await narrator.chapter(
    'Try something different in each',
    'Each server remembers the visit before the snapshot and keeps its own count from there.\n' +
      'The function and the directory of the shell are still there.',
  )
  let best: { environment: Environment; bytes: number } | undefined
  for (const [index, environment] of tries.entries()) {
    const output = await say(narrator, environment, attempt(attempts[index] ?? attempts[0]))
    const bytes = Number.parseInt(output.split('\n')[1] ?? '', 10)
    if (best === undefined || bytes < best.bytes) best = { environment, bytes }
  }
  if (best === undefined) throw new Error('no branch to try')
  return best.environment
}

async function win(trunk: Environment, best: Environment, narrator: Narrator): Promise<void> {
  await narrator.chapter('Keep the best', `${best.name} made the smallest file.`)
  await timed(narrator, 'promote', () =>
    narrator.step(
      `forkpoint promote ${best.name} ${trunk.name}`,
      () => trunk.promote(best),
      () => promoted(best, trunk),
    ),
  )
  await say(narrator, trunk, 'wc -c < data.gz; visit')
}

async function goBack(trunk: Environment, ready: Snapshot, narrator: Narrator): Promise<void> {
  await narrator.chapter(
    'Or go back',
    'As if none of it had happened; the counter continues from the snapshot.',
  )
  await timed(narrator, 'restore', () =>
    narrator.step(
      `forkpoint restore ${trunk.name} ${ready.name}`,
      () => trunk.restore(ready),
      () => restored(trunk, ready),
    ),
  )
  await say(narrator, trunk, 'ls; visit; cat count; sleep 0.3; cat count')
}

/** Removes what the tour created, and shows the commands. */
export async function cleanUp(stage: Stage, narrator: Narrator): Promise<void> {
  await narrator.chapter('Clean up', 'Snapshots outlive their environments, so both are removed.')
  const { environments } = stage
  await narrator.step(
    `forkpoint rm ${namesOf(environments)}`,
    () => stage.removeEnvironments(),
    () => removed(environments),
  )
  const snapshots = await stage.snapshots()
  await narrator.step(
    `forkpoint rm-snapshot ${namesOf(snapshots)}`,
    () => stage.removeSnapshots(),
    () => removed(snapshots),
  )
}

function namesOf(things: readonly { readonly id: string; readonly name: string | null }[]): string {
  return things.map(({ id, name }) => name ?? id).join(' ')
}

/** Runs a command inside; `shown` replaces one that is too long to print. */
async function say(
  narrator: Narrator,
  environment: Environment,
  command: string,
  shown: string = command,
): Promise<string> {
  const { stdout } = await narrator.step(
    `forkpoint exec ${environment.name} -- ${quoted(shown)}`,
    async () => {
      const result = await environment.exec(command, { signal: narrator.signal })
      if (result.exitCode === 0) return result
      throw new BackendError(`${quoted(shown)} failed inside: ${result.stderr.trim()}`, {
        remedy: 'check this machine with `forkpoint doctor`, then try again',
      })
    },
    (result) => narrator.said(result.stdout),
  )
  return stdout
}

async function timed<T>(narrator: Narrator, operation: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await work()
  narrator.timing(operation, performance.now() - began)
  return result
}

/** As it would be typed. */
function quoted(text: string): string {
  return text.includes("'") ? `"${text}"` : `'${text}'`
}
