import { availableParallelism } from 'node:os'
import type { EnvironmentRecord } from '../model/environment.ts'
import { ConflictError, InvalidInputError } from '../model/errors.ts'
import { newEnvironmentId } from '../model/ids.ts'
import { parseName } from '../model/names.ts'
import { quote } from '../model/quote.ts'
import type { SnapshotRecord } from '../model/snapshot.ts'
import { killPoint } from '../system/kill-points.ts'
import { stopwatch } from '../system/stopwatch.ts'
import { introduce } from './agents.ts'
import type { Engine } from './engine.ts'
import { runForkHooks } from './fork-hooks.ts'
import { hostnameOf, identityOf } from './identity.ts'
import { remove } from './remove.ts'
import { requireReady } from './restore.ts'

const mostForks = 1000

export interface ForkOptions {
  /** how many; default 1 */
  readonly count?: number
  /** the name of the one fork, or the prefix of several: `name-1`, `name-2`, … */
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
}

/** New environments from a snapshot, each with an identity of its own. */
export async function fork(
  engine: Engine,
  snapshot: SnapshotRecord,
  options: ForkOptions = {},
): Promise<EnvironmentRecord[]> {
  const count = options.count ?? 1
  if (!Number.isInteger(count) || count < 1 || count > mostForks) {
    throw new InvalidInputError(`not a number of forks: ${count}`, {
      remedy: `give 1 to ${mostForks}`,
    })
  }
  requireReady(snapshot)
  const drafts = Array.from({ length: count }, (_, index) =>
    draftOf(snapshot, options, count === 1 ? null : index + 1),
  )
  requireFreeNames(engine, drafts)
  return allOrNone(engine, drafts, (draft) => materializeOne(engine, draft, snapshot))
}

/** Several at a time: a restore waits for the kernel half of its time, so two a core. A caller that asked for N never has to deal with fewer. */
async function allOrNone(
  engine: Engine,
  drafts: readonly EnvironmentRecord[],
  make: (draft: EnvironmentRecord) => Promise<void>,
): Promise<EnvironmentRecord[]> {
  const failures: unknown[] = []
  const made: EnvironmentRecord[] = []
  const queue = drafts.values()
  const work = async () => {
    for (const draft of queue) {
      if (failures.length > 0) return
      await make(draft).then(
        () => made.push(draft),
        (error: unknown) => failures.push(error),
      )
    }
  }
  await Promise.all(Array.from({ length: 2 * availableParallelism() }, work))
  if (failures.length === 0) return drafts.map(({ id }) => engine.store.environments.resolve(id))
  await Promise.all(made.map(({ id }) => remove(engine, id)))
  throw failures[0]
}

function draftOf(
  snapshot: SnapshotRecord,
  options: ForkOptions,
  ordinal: number | null,
): EnvironmentRecord {
  const id = newEnvironmentId()
  const text = options.name && (ordinal === null ? options.name : `${options.name}-${ordinal}`)
  const name = text === undefined ? null : parseName(text)
  return {
    ...snapshot.origin,
    ...{ id, name, backend: snapshot.backend, hostname: hostnameOf(name, id) },
    ...{ status: 'creating', head: snapshot.id, instance: null, createdAt: Date.now() },
    labels: { ...snapshot.origin.labels, ...options.labels },
  }
}

/** Seen before anything is made; the store itself refuses what comes in between. */
function requireFreeNames(engine: Engine, drafts: readonly EnvironmentRecord[]): void {
  const taken = new Set(engine.store.environments.list().map(({ name }) => name))
  const name = drafts.find((draft) => draft.name !== null && taken.has(draft.name))?.name
  if (!name) return
  throw new ConflictError(`the name ${quote(name)} is taken`, { remedy: 'choose another name' })
}

async function materializeOne(
  engine: Engine,
  draft: EnvironmentRecord,
  snapshot: SnapshotRecord,
): Promise<void> {
  const { store } = engine
  const backend = engine.backend(draft.backend)
  await using _lease = await store.leases.acquire(`env:${draft.id}`, 'fork')
  const watch = stopwatch()
  const operation = store.transaction(() => {
    // From now on the snapshot has this environment on it, and `prune` leaves it alone.
    requireReady(store.snapshots.resolve(snapshot.id))
    store.environments.insert(draft)
    return store.journal.begin('fork', draft.id, { from: snapshot.id })
  })
  killPoint('fork:begun')
  try {
    const instance = await watch.measure('materialize', () =>
      backend.materialize({
        ...{ id: draft.id, limits: draft.limits, net: draft.net, snapshot },
        ...{ identity: identityOf(draft), replaces: null },
        role: 'copy',
      }),
    )
    store.environments.update(draft.id, { instance })
    await watch.measure('introduce', () => introduce(engine, draft, instance))
    await watch.measure('hooks', () => runForkHooks(engine, draft, instance))
    killPoint('fork:alive')
    store.transaction(() => {
      store.journal.finish(operation, { phases: watch.phases })
      store.environments.update(draft.id, { status: 'running' })
    })
  } catch (error) {
    await backend.destroy(draft.id)
    store.environments.remove(draft.id)
    store.journal.fail(operation, error)
    throw error
  }
}
