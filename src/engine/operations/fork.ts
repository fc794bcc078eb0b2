import { availableParallelism } from 'node:os'
import { greeted } from '../../agent/wire/connect.ts'
import type { AgentConnection } from '../../agent/wire/connection.ts'
import { killPoint } from '../../linux/kill-points.ts'
import { type Stopwatch, stopwatch } from '../../linux/stopwatch.ts'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import { ConflictError } from '../../model/errors.ts'
import { quote } from '../../model/quote.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Operation } from '../../store/journal.ts'
import type { Lease } from '../../store/leases.ts'
import type { ReadySpare } from '../../store/spares.ts'
import { beginConnection, introduceOver } from '../agents.ts'
import type { Engine } from '../engine.ts'
import { checked } from '../inputs/checked.ts'
import { forkInput } from '../inputs/environment-inputs.ts'
import { warn } from '../recovery/recover.ts'
import { runSpare, takeForFork } from '../spares/take.ts'
import { afterFork } from '../spares/wants.ts'
import { forkDraft } from './fork-draft.ts'
import { hasForkHooks, runForkHooks } from './fork-hooks.ts'
import { hostnameOf } from './identity.ts'
import { materialize } from './materialize.ts'
import { remove } from './remove.ts'
import { requireReady } from './restore.ts'

export interface ForkOptions {
  /** how many; default 1 */
  readonly count?: number
  /** the name of the one fork, or the prefix of several: `name-1`, `name-2`, … */
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  /** all or none: if one cannot be made, the others are removed and the call rejects */
  readonly atomic?: boolean
}

/** What became of a fan-out: at least one was made. */
export interface Fanout {
  readonly records: readonly EnvironmentRecord[]
  /** one for each that could not be made */
  readonly errors: readonly Error[]
}

/** New environments from a snapshot, each with an identity of its own. */
export async function fork(
  engine: Engine,
  snapshot: SnapshotRecord,
  given: ForkOptions = {},
): Promise<Fanout> {
  const options = checked('fork', forkInput, given)
  const { count = 1, name, labels } = options
  requireReady(snapshot)
  const drafts = Array.from({ length: count }, (_, index) =>
    forkDraft(snapshot, {
      ...(name !== undefined && { name: count === 1 ? name : `${name}-${index + 1}` }),
      ...(labels !== undefined && { labels }),
    }),
  )
  requireFreeNames(engine, drafts)
  if (count === 1) await engine.spares.underWay({ kind: 'fork', snapshot: snapshot.id })
  const result = await makeAll(engine, drafts, snapshot, options)
  engine.spares.want(afterFork(snapshot.id, result.records.length))
  return result
}

/** Several at a time: a restore waits for the kernel half of its time, so two a core. */
async function makeAll(
  engine: Engine,
  drafts: readonly EnvironmentRecord[],
  snapshot: SnapshotRecord,
  { atomic = false }: ForkOptions,
): Promise<Fanout> {
  const made = new Map<EnvironmentRecord, EnvironmentRecord>()
  const errors: Error[] = []
  const queue = drafts.values()
  const work = async () => {
    for (const draft of queue) {
      if (atomic && errors.length > 0) return
      await makeOne(engine, draft, snapshot).then(
        (record) => made.set(draft, record),
        (error: Error) => errors.push(error),
      )
    }
  }
  await Promise.all(Array.from({ length: 2 * availableParallelism() }, work))
  const records = drafts.flatMap((draft) => made.get(draft) ?? [])
  const [first] = errors
  if (first === undefined || (!atomic && records.length > 0)) return { records, errors }
  await Promise.all(records.map(({ id }) => remove(engine, id)))
  throw first
}

/** Seen before anything is made; the store itself refuses what comes in between. */
function requireFreeNames(engine: Engine, drafts: readonly EnvironmentRecord[]): void {
  const wanted = drafts.flatMap((draft) => draft.name ?? [])
  if (wanted.length === 0) return
  const taken = new Set(engine.store.environments.list().map((record) => record.name))
  const name = wanted.find((each) => taken.has(each))
  if (name === undefined) return
  throw new ConflictError(`the name ${quote(name)} is taken`, { remedy: 'choose another name' })
}

interface Begun {
  readonly record: EnvironmentRecord
  readonly spare: ReadySpare | undefined
  readonly operation: Operation
  readonly lease: Lease
}

async function makeOne(
  engine: Engine,
  draft: EnvironmentRecord,
  snapshot: SnapshotRecord,
): Promise<EnvironmentRecord> {
  const { store } = engine
  const { record, spare, operation, lease } = begin(engine, draft, snapshot)
  await using _lease = lease
  const watch = stopwatch()
  killPoint('fork:begun')
  try {
    const meet = (instance: Instance) => introduce(engine, record, instance)
    const { instance, connection, hasHooks } =
      (spare && (await watch.measure('wake', () => runSpare(engine, record, spare, meet)))) ??
      (await make(engine, record, snapshot, watch))
    await using _connection = connection
    if (hasHooks) await watch.measure('hooks', () => runForkHooks(connection, record))
    killPoint('fork:alive')
    return store.transaction(() => {
      lease.requireHeld()
      store.journal.finish(operation, { phases: watch.phases })
      return store.environments.update(record.id, { status: 'running', instance })
    })
  } catch (error) {
    try {
      await engine.backend(record.backend).destroy(record.id)
      store.environments.remove(record.id)
      store.journal.fail(operation, error)
    } catch (left) {
      // It stays open: whoever comes next tries again. What went wrong first is what the caller needs.
      warn(engine, operation, left as Error)
    }
    throw error
  }
}

/** Writes down what is about to happen. What was prepared comes with its id. */
function begin(engine: Engine, draft: EnvironmentRecord, snapshot: SnapshotRecord): Begun {
  const { store } = engine
  return store.transaction(() => {
    // From now on the snapshot has this environment on it, and `prune` leaves it alone.
    requireReady(store.snapshots.resolve(snapshot.id))
    const spare = takeForFork(engine, snapshot.id)
    const id = spare?.environmentId ?? draft.id
    const hostname = hostnameOf(draft.name, id)
    const record = { ...draft, id, hostname, instance: spare?.instance ?? null }
    store.environments.insert(record)
    const operation = store.journal.begin('fork', id, { from: snapshot.id })
    const lease = store.leases.tryAcquire(`env:${id}`, 'fork')
    if (!lease) throw new ConflictError(`environment ${id} is in use`, { remedy: 'try again' })
    return { record, spare, operation, lease }
  })
}

interface Met {
  readonly instance: Instance
  readonly connection: AgentConnection
  readonly hasHooks: boolean
}

async function introduce(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
): Promise<Met> {
  const connection = await beginConnection(engine, record, instance)
  try {
    const [hasHooks] = await Promise.all([
      hasForkHooks(connection),
      introduceOver(connection, engine, record),
      greeted(connection),
    ])
    return { instance, connection, hasHooks }
  } catch (error) {
    await connection.close()
    throw error
  }
}

async function make(
  engine: Engine,
  record: EnvironmentRecord,
  snapshot: SnapshotRecord,
  watch: Stopwatch,
): Promise<Met> {
  const instance = await watch.measure('materialize', () =>
    materialize(engine, record, snapshot, { replaces: null, role: 'copy' }),
  )
  return await watch.measure('introduce', () => introduce(engine, record, instance))
}
