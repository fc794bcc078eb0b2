import { availableParallelism } from 'node:os'
import { greeted } from '../../../agent/wire/connect.ts'
import type { AgentConnection } from '../../../agent/wire/connection.ts'
import type { Input } from '../../../api/contract/contract.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { type Stopwatch, stopwatch } from '../../../linux/stopwatch.ts'
import type { EnvironmentRecord, Instance } from '../../../model/environment.ts'
import { ConflictError } from '../../../model/errors.ts'
import type { SnapshotRecord } from '../../../model/snapshot.ts'
import { quote } from '../../../model/text/quote.ts'
import type { Operation } from '../../../store/journal.ts'
import type { Lease } from '../../../store/leases.ts'
import type { ReadySpare } from '../../../store/spares.ts'
import { beginConnection, introduceOver } from '../../agents.ts'
import { requireCapability } from '../../capabilities.ts'
import type { Engine } from '../../engine.ts'
import { type CopyMemory, reserveCopies } from '../../memory/copy-memory.ts'
import { requireWithinLimits } from '../../memory/limits.ts'
import { recordProven } from '../../proofs/record-proof.ts'
import { undoFailed } from '../../recovery/undo-failed.ts'
import { resumeShells } from '../../shells/resume-shells.ts'
import { countReady, runSpare, takeForFork } from '../../spares/take.ts'
import { afterFork } from '../../spares/wants.ts'
import { hostnameOf } from '../identity.ts'
import { materialize } from '../materialize.ts'
import { remove } from '../remove.ts'
import { requireNothingLost } from '../require-nothing-lost.ts'
import { requireReady } from '../require-ready.ts'
import { forkDraft } from './fork-draft.ts'
import { hasForkHooks, runForkHooks } from './fork-hooks.ts'
import { cutOff, giveConnections, type Heritage } from './heritage.ts'

export type ForkOptions = Omit<Input<'snapshot.fork'>, 'id'>

/** What a fan-out made: at least one environment. */
export interface Fanout {
  readonly records: readonly EnvironmentRecord[]
  /** one for each environment that could not be made */
  readonly errors: readonly Error[]
}

/** Makes new environments from a snapshot, each with its own identity. */
export async function fork(
  engine: Engine,
  snapshot: SnapshotRecord,
  options: ForkOptions,
  heirOf: Heritage | null = null,
): Promise<Fanout> {
  const { count, name, labels } = options
  requireReady(snapshot)
  requireCapability(engine.backend(snapshot.backend), 'fork')
  const nameOf = (index: number) => (count === 1 ? name : name && `${name}-${index + 1}`)
  const drafts = Array.from({ length: count }, (_, index) =>
    forkDraft(snapshot, { name: nameOf(index), labels }),
  )
  requireFreeNames(engine, drafts)
  requireWithinLimits(snapshot, snapshot.origin.limits)
  if (options.strict) requireNothingLost(heirOf ?? snapshot)
  const spares = { kind: 'fork', snapshot: snapshot.id } as const
  if (count === 1) await engine.spares.underWay(spares)
  const missing = Math.max(0, count - countReady(engine, spares))
  using memory = await reserveCopies(engine, snapshot, { count: missing, keep: spares })
  const result = await makeAll(engine, drafts, { snapshot, memory, heirOf }, options)
  engine.spares.want(afterFork(snapshot.id, result.records.length))
  return result
}

interface Making {
  readonly snapshot: SnapshotRecord
  readonly memory: CopyMemory
  readonly heirOf: Heritage | null
}

/** Makes two at a time per core, because a restore spends half its time waiting for the kernel. */
async function makeAll(
  engine: Engine,
  drafts: readonly EnvironmentRecord[],
  making: Making,
  { atomic = false }: ForkOptions,
): Promise<Fanout> {
  const made = new Map<EnvironmentRecord, EnvironmentRecord>()
  const errors: Error[] = []
  const queue = drafts.values()
  const work = async () => {
    for (const draft of queue) {
      if (atomic && errors.length > 0) return
      await makeOne(engine, draft, making).then(
        (record) => made.set(draft, record),
        (error: Error) => errors.push(error),
      )
    }
  }
  const lanes = making.memory.atOnce(2 * availableParallelism())
  await Promise.all(Array.from({ length: lanes }, work))
  const records = drafts.flatMap((draft) => made.get(draft) ?? [])
  const [first] = errors
  if (first === undefined || (!atomic && records.length > 0)) return { records, errors }
  await Promise.all(records.map(({ id }) => remove(engine, id, { force: true })))
  throw first
}

/** Checked before anything is made. If a name is taken in between, the store refuses it. */
function requireFreeNames(engine: Engine, drafts: readonly EnvironmentRecord[]): void {
  const wanted = drafts.flatMap((draft) => draft.name ?? [])
  if (wanted.length === 0) return
  const { environments, snapshots } = engine.store
  const taken = new Set([...environments.list(), ...snapshots.list()].map(({ name }) => name))
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
  making: Making,
): Promise<EnvironmentRecord> {
  const { store } = engine
  const { snapshot, heirOf } = making
  const { record, spare, operation, lease } = begin(engine, draft, making)
  await using _lease = lease
  const watch = stopwatch()
  killPoint('fork:begun')
  try {
    await using _cut = heirOf && (await cutOff(engine, record.backend, record.id))
    const whenAwake = (instance: Instance) => introduce(engine, record, instance, snapshot)
    const { instance, connection, hasHooks } =
      (spare && (await watch.measure('wake', () => runSpare(engine, record, spare, whenAwake)))) ??
      (await make(engine, record, making, watch))
    await using _connection = connection
    if (hasHooks) await watch.measure('hooks', () => runForkHooks(connection, record))
    if (heirOf !== null) {
      await watch.measure('connections', () =>
        giveConnections(engine, heirOf, { id: record.id, instance }, snapshot),
      )
    }
    killPoint('fork:alive')
    return store.transaction(() => {
      lease.requireHeld()
      store.journal.finish(operation, { phases: watch.phases })
      recordProven(engine, snapshot.id)
      const { lost = [] } = heirOf ?? snapshot
      return store.environments.update(record.id, { status: 'running', instance, lost })
    })
  } catch (error) {
    await undoFailed(engine, operation, error, async () => {
      await engine.backend(record.backend).destroy(record.id)
      store.environments.remove(record.id)
    })
    throw error
  }
}

/** Records what is about to happen. A spare brings its own id. */
function begin(engine: Engine, draft: EnvironmentRecord, { snapshot, heirOf }: Making): Begun {
  const { store } = engine
  return store.transaction(() => {
    // From now on this environment builds on the snapshot, so `prune` leaves it alone.
    requireReady(store.snapshots.resolve(snapshot.id))
    // A spare has no connections any more.
    const spare = heirOf === null ? takeForFork(engine, snapshot.id) : undefined
    const id = spare?.environmentId ?? draft.id
    const hostname = hostnameOf(draft.name, id)
    const record = { ...draft, id, hostname, instance: spare?.instance ?? null }
    store.environments.insert(record)
    const operation = store.journal.begin('fork', id, { from: snapshot.id })
    const lease = store.leases.tryAcquire(`env:${id}`, 'fork')
    if (!lease)
      throw new ConflictError(`environment ${id} is in use`, { remedy: 'try again in a moment' })
    return { record, spare, operation, lease }
  })
}

interface Introduced {
  readonly instance: Instance
  readonly connection: AgentConnection
  readonly hasHooks: boolean
}

async function introduce(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
  { shells = [] }: SnapshotRecord,
): Promise<Introduced> {
  const connection = await beginConnection(engine, record, instance)
  try {
    const [hasHooks] = await Promise.all([
      hasForkHooks(connection),
      introduceOver(connection, engine, { ...record, instance }),
      greeted(connection),
    ])
    await resumeShells(connection, shells)
    return { instance, connection, hasHooks }
  } catch (error) {
    await connection.close()
    throw error
  }
}

async function make(
  engine: Engine,
  record: EnvironmentRecord,
  { snapshot, memory, heirOf }: Making,
  watch: Stopwatch,
): Promise<Introduced> {
  if (heirOf === null) engine.spareCounts.missed.fork += 1
  const role = heirOf === null ? 'copy' : 'heir'
  const instance = await watch.measure('materialize', () =>
    memory.fill(() => materialize(engine, record, snapshot, { replaces: null, role })),
  )
  return await watch.measure('introduce', () => introduce(engine, record, instance, snapshot))
}
