import { killPoint } from '../../linux/kill-points.ts'
import { type Stopwatch, stopwatch } from '../../linux/stopwatch.ts'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import { ConflictError } from '../../model/errors.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Operation } from '../../store/journal.ts'
import type { Lease } from '../../store/leases.ts'
import type { ReadySpare } from '../../store/spares.ts'
import { greet, introduce } from '../agents.ts'
import { requireCapability } from '../capabilities.ts'
import type { Engine } from '../engine.ts'
import { lifeBegan, noteCommands } from '../history/command-log.ts'
import { type CopyMemory, reserveCopies } from '../memory/copy-memory.ts'
import { requireWithinLimits } from '../memory/limits.ts'
import { secureLastCopy } from '../proofs/last-copy.ts'
import { recordProven } from '../proofs/record-proof.ts'
import { removeAfterSeizure } from '../recovery/give-back.ts'
import { currentRecord } from '../recovery/liveness.ts'
import { hold } from '../recovery/recover.ts'
import { undoFailed } from '../recovery/undo-failed.ts'
import { retire } from '../spares/discard.ts'
import { countReady, runSpare, takeForRestore } from '../spares/take.ts'
import { afterRestore } from '../spares/wants.ts'
import { materialize } from './materialize.ts'
import type { CauseOptions } from './pause.ts'
import { requireNothingLost } from './require-nothing-lost.ts'
import { requireReady } from './require-ready.ts'

/**
 * Makes an environment what a snapshot holds. It keeps its id. The new life is running before the old
 * one ends, and a failure leaves the old one as it is.
 */
export async function restore(
  engine: Engine,
  id: EnvironmentId,
  reference: string,
  { force = false, strict = false }: RestoreOptions = {},
): Promise<EnvironmentRecord> {
  await using lease = await hold(engine, id, 'restore')
  const snapshot = engine.store.snapshots.resolve(reference)
  const restored = await exchange(engine, lease, id, snapshot, { kind: 'restore', force, strict })
  engine.spares.want(afterRestore(snapshot.id, id))
  return restored
}

/** Brings back an environment without processes: one that was released, or died in a reboot. */
export async function revive(
  engine: Engine,
  id: EnvironmentId,
  { cause }: CauseOptions = {},
): Promise<EnvironmentRecord> {
  await using lease = await hold(engine, id, 'resume')
  const record = await currentRecord(engine, id)
  // Another caller was faster. What it has done since must not be lost.
  if (record.status === 'running') return record
  const { head, name } = record
  if (head === null) {
    throw new ConflictError(`environment ${name ?? id} is dead and has no snapshot`, {
      remedy: `export its files if you need them, then remove it with \`forkpoint rm ${name ?? id}\``,
    })
  }
  return await exchange(engine, lease, id, engine.store.snapshots.resolve(head), {
    kind: 'resume',
    force: false,
    strict: false,
    cause,
  })
}

/** For operations that end the processes of an environment. */
export interface EndOptions {
  /** even if they are the only copy of a state that a snapshot should hold */
  readonly force?: boolean | undefined
}

/** For operations that make an environment what a snapshot holds. */
export interface RestoreOptions extends EndOptions {
  /** refuses a snapshot whose copies do not have everything */
  readonly strict?: boolean | undefined
}

type ExchangeKind = 'restore' | 'resume' | 'promote'

interface ExchangeOptions extends Required<RestoreOptions>, CauseOptions {
  readonly kind: ExchangeKind
}

/** The exchange itself, for callers that hold the environment's lease. */
export async function exchange(
  engine: Engine,
  lease: Lease,
  id: EnvironmentId,
  snapshot: SnapshotRecord,
  { kind, force, strict, cause }: ExchangeOptions,
): Promise<EnvironmentRecord> {
  const { store } = engine
  const record = store.environments.resolve(id)
  requireSameBackend(record, snapshot)
  requireCapability(engine.backend(record.backend), 'restore')
  requireWithinLimits(snapshot, record.limits)
  if (strict) requireNothingLost(snapshot)
  // The exchange proves the snapshot that it is made from; the last one of this environment may be another.
  if (!force && record.head !== snapshot.id) await secureLastCopy(engine, record)
  using memory = await memoryForNext(engine, id, snapshot)
  const began = lifeBegan(engine, record)
  const { operation, spare } = begin(engine, id, snapshot, { kind, cause })
  const watch = stopwatch()
  killPoint(`${kind}:begun`)
  let exchanged: EnvironmentRecord
  try {
    const next = await nextLife(engine, record, { snapshot, memory }, spare, watch)
    killPoint(`${kind}:alive`)
    exchanged = store.transaction(() => {
      lease.requireHeld()
      store.journal.finish(operation, { phases: watch.phases })
      recordProven(engine, snapshot.id)
      return store.environments.update(id, {
        instance: next,
        head: snapshot.id,
        status: 'running',
        lost: snapshot.lost ?? [],
        copies: snapshot.origin.copies ?? [],
      })
    })
  } catch (error) {
    await undoFailed(engine, operation, error, () =>
      lease.isHeld() ? retire(engine, record, record.instance) : removeAfterSeizure(engine, record),
    )
    throw error
  }
  killPoint(`${kind}:committed`)
  engine.transports.cut(id)
  endLater(engine, record, began)
  return exchanged
}

/** The life that is replaced gives nothing back in time: it ends only when the next one runs. */
async function memoryForNext(
  engine: Engine,
  environmentId: EnvironmentId,
  snapshot: SnapshotRecord,
): Promise<CopyMemory> {
  const spares = { kind: 'restore', snapshot: snapshot.id, environmentId } as const
  await engine.spares.underWay(spares)
  const count = countReady(engine, spares) > 0 ? 0 : 1
  return await reserveCopies(engine, snapshot, { count, keep: spares })
}

interface Begun {
  readonly operation: Operation
  readonly spare: ReadySpare | undefined
}

/** Records what is about to happen. */
function begin(
  engine: Engine,
  id: EnvironmentId,
  snapshot: SnapshotRecord,
  { kind, cause }: Pick<ExchangeOptions, 'kind' | 'cause'>,
): Begun {
  const { store } = engine
  return store.transaction(() => {
    // A snapshot that is ready now stays: `prune` leaves alone what an open operation reads.
    requireReady(store.snapshots.resolve(snapshot.id))
    const operation = store.journal.begin(kind, id, { from: snapshot.id, ...(cause && { cause }) })
    return { operation, spare: takeForRestore(engine, id, snapshot.id) }
  })
}

interface Making {
  readonly snapshot: SnapshotRecord
  readonly memory: CopyMemory
}

/** The life that takes over: a spare if there is a usable one, or else a new one. */
async function nextLife(
  engine: Engine,
  record: EnvironmentRecord,
  making: Making,
  spare: ReadySpare | undefined,
  watch: Stopwatch,
): Promise<Instance> {
  const whenAwake = async (instance: Instance) => {
    await settle(engine, record, instance, making.snapshot)
    return instance
  }
  const woken =
    spare && (await watch.measure('wake', () => runSpare(engine, record, spare, whenAwake)))
  return woken ?? (await make(engine, record, making, watch))
}

/** Until it ends, the life that was replaced knows what has run in it. */
function endLater(engine: Engine, record: EnvironmentRecord, began: number): void {
  const { id, backend, instance } = record
  if (instance === null) return
  engine.background.startWhenQuiet(async () => {
    await noteCommands(engine, record, began)
    await engine.backend(backend).end({ id, instance })
  })
}

async function make(
  engine: Engine,
  record: EnvironmentRecord,
  { snapshot, memory }: Making,
  watch: Stopwatch,
): Promise<Instance> {
  engine.spareCounts.missed.restore += 1
  const copy = { replaces: record.instance, role: 'copy' } as const
  const next = await watch.measure('materialize', () =>
    memory.fill(() => materialize(engine, record, snapshot, copy)),
  )
  await watch.measure('settle', () => settle(engine, record, next, snapshot))
  return next
}

/** Waits for the agent. If the snapshot is of another environment, gives the agent this one's identity. */
async function settle(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
  snapshot: SnapshotRecord,
): Promise<void> {
  // The agent was not captured without its terminals.
  const fresh = !snapshot.captured.includes('terminal')
  const foreign = snapshot.environmentId !== record.id
  const { shells = [] } = snapshot
  await (fresh || foreign
    ? introduce(engine, record, instance, shells)
    : greet(engine, record, instance))
}

/** One backend cannot read another's snapshot. */
function requireSameBackend(record: EnvironmentRecord, snapshot: SnapshotRecord): void {
  if (record.backend === snapshot.backend) return
  const message = `snapshot ${snapshot.name ?? snapshot.id} was taken with the ${snapshot.backend} backend, and environment ${record.name ?? record.id} runs on ${record.backend}`
  throw new ConflictError(message, { remedy: 'fork the snapshot instead' })
}
