import { killPoint } from '../../linux/kill-points.ts'
import { type Stopwatch, stopwatch } from '../../linux/stopwatch.ts'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import { ConflictError } from '../../model/errors.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Lease } from '../../store/leases.ts'
import { greet, introduce } from '../agents.ts'
import type { Engine } from '../engine.ts'
import { removeAfterSeizure } from '../recovery/give-back.ts'
import { hold, warn } from '../recovery/recover.ts'
import { retire } from '../spares/discard.ts'
import { runSpare, takeForRestore } from '../spares/take.ts'
import { afterRestore } from '../spares/wants.ts'
import { materialize } from './materialize.ts'

/**
 * Makes an environment what a snapshot holds. It keeps its id; the replacement is alive before the
 * old one dies, and a failure leaves the old one as it is.
 */
export async function restore(
  engine: Engine,
  id: EnvironmentId,
  reference: string,
): Promise<EnvironmentRecord> {
  await using lease = await hold(engine, id, 'restore')
  const snapshot = engine.store.snapshots.resolve(reference)
  const restored = await exchange(engine, lease, id, snapshot, 'restore')
  engine.spares.want(afterRestore(snapshot.id, id))
  return restored
}

/** Brings an environment back that has no processes: released, or dead after a reboot. */
export async function revive(engine: Engine, id: EnvironmentId): Promise<EnvironmentRecord> {
  await using lease = await hold(engine, id, 'resume')
  const { head, name } = engine.store.environments.resolve(id)
  if (head === null) {
    throw new ConflictError(`environment ${name ?? id} is dead and was never snapshotted`, {
      remedy: `its files can still be exported; remove it with \`forkpoint rm ${name ?? id}\``,
    })
  }
  return await exchange(engine, lease, id, engine.store.snapshots.resolve(head), 'resume')
}

/** The exchange itself, for callers that hold the environment's lease. */
export async function exchange(
  engine: Engine,
  lease: Lease,
  id: EnvironmentId,
  snapshot: SnapshotRecord,
  kind: 'restore' | 'resume' | 'promote',
): Promise<EnvironmentRecord> {
  const { store } = engine
  const record = store.environments.resolve(id)
  const backend = engine.backend(record.backend)
  await engine.spares.underWay({ kind: 'restore', snapshot: snapshot.id, environmentId: id })
  const { operation, spare } = store.transaction(() => {
    // What is ready now stays: `prune` leaves alone what an open operation reads.
    requireReady(store.snapshots.resolve(snapshot.id))
    const operation = store.journal.begin(kind, id, { from: snapshot.id })
    return { operation, spare: takeForRestore(engine, id, snapshot.id) }
  })
  const watch = stopwatch()
  killPoint(`${kind}:begun`)
  let exchanged: EnvironmentRecord
  try {
    const meet = async (instance: Instance) => {
      await settle(engine, record, instance, snapshot)
      return instance
    }
    const next =
      (spare && (await watch.measure('wake', () => runSpare(engine, record, spare, meet)))) ??
      (await make(engine, record, snapshot, watch))
    killPoint(`${kind}:alive`)
    exchanged = store.transaction(() => {
      lease.requireHeld()
      store.journal.finish(operation, { phases: watch.phases })
      return store.environments.update(id, { instance: next, head: snapshot.id, status: 'running' })
    })
  } catch (error) {
    try {
      if (lease.isHeld()) await retire(engine, record, record.instance)
      else await removeAfterSeizure(engine, record)
      store.journal.fail(operation, error)
    } catch (left) {
      // It stays open: whoever comes next tries again. What went wrong first is what the caller needs.
      warn(engine, operation, left as Error)
    }
    throw error
  }
  killPoint(`${kind}:committed`)
  await engine.connections.close(id)
  const { instance } = record
  if (instance) engine.background.startWhenQuiet(() => backend.end(id, instance))
  return exchanged
}

async function make(
  engine: Engine,
  record: EnvironmentRecord,
  snapshot: SnapshotRecord,
  watch: Stopwatch,
): Promise<Instance> {
  const next = await watch.measure('materialize', () =>
    materialize(engine, record, snapshot, { replaces: record.instance, role: 'copy' }),
  )
  await watch.measure('settle', () => settle(engine, record, next, snapshot))
  return next
}

/** Waits for the agent, and makes it this environment's where it came from another's snapshot. */
async function settle(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
  snapshot: SnapshotRecord,
): Promise<void> {
  const fresh = !snapshot.captured.includes('processes')
  const foreign = snapshot.environmentId !== record.id
  await (fresh || foreign ? introduce(engine, record, instance) : greet(engine, record, instance))
}

export function requireReady(snapshot: SnapshotRecord): void {
  if (snapshot.status === 'ready') return
  throw new ConflictError(`snapshot ${snapshot.name ?? snapshot.id} is ${snapshot.status}`, {
    remedy: snapshot.status === 'writing' ? 'try again when it is ready' : 'choose another one',
  })
}
