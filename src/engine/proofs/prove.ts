import { randomUUID } from 'node:crypto'
import { killPoint } from '../../linux/kill-points.ts'
import type { Instance } from '../../model/environment.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { NewSpare } from '../../store/spares.ts'
import type { Engine } from '../engine.ts'
import { type CopyMemory, reserveCopies } from '../memory/copy-memory.ts'
import { requireWithinLimits } from '../memory/limits.ts'
import { forkDraft } from '../operations/fork/fork-draft.ts'
import { identityOf } from '../operations/identity.ts'
import { requireReady } from '../operations/require-ready.ts'
import { endSpare } from '../spares/discard.ts'
import { isItsOwnFault, recordFailed, recordProven, unrestorable } from './record-proof.ts'

/**
 * Makes sure that a snapshot can be restored, unless that is known. A failure that is the snapshot's own
 * is recorded; after any other the snapshot is as before.
 */
export async function prove(engine: Engine, id: SnapshotId): Promise<SnapshotRecord> {
  await engine.spares.underWayFrom(id)
  return await proveNow(engine, id)
}

/** The same, without waiting for a spare that would prove it; in `memory`, if the caller has reserved some. */
export async function proveNow(
  engine: Engine,
  id: SnapshotId,
  memory?: CopyMemory,
): Promise<SnapshotRecord> {
  const { snapshots } = engine.store
  const snapshot = snapshots.resolve(id)
  requireReady(snapshot)
  if (snapshot.proof === 'proven') return snapshot
  const life = engine.store.environments.get(snapshot.environmentId)?.instance ?? null
  try {
    await rehearse(engine, snapshot, life, memory)
  } catch (error) {
    if (!isItsOwnFault(error)) throw error
    recordFailed(engine, id, error)
    throw unrestorable(snapshots.resolve(id))
  }
  engine.store.transaction(() => recordProven(engine, id))
  killPoint('proof:recorded')
  return snapshots.resolve(id)
}

/** One failure can be an accident of the moment. */
const mostTries = 2

/** Makes a copy from a snapshot, frozen before its first instruction, and ends it. */
export async function rehearse(
  engine: Engine,
  snapshot: SnapshotRecord,
  addressesOf: Instance | null,
  memory?: CopyMemory,
): Promise<void> {
  requireWithinLimits(snapshot, snapshot.origin.limits)
  using reserved = memory ?? (await reserveCopies(engine, snapshot, { count: 1 }))
  const make = () => makeAndEnd(engine, snapshot, addressesOf)
  for (let tries = 1; ; tries += 1) {
    try {
      return await reserved.fill(make)
    } catch (error) {
      if (!isItsOwnFault(error) || tries === mostTries) throw error
    }
  }
}

/** Recorded as a spare that never becomes ready: if this process is killed, the next one ends it. */
async function makeAndEnd(
  engine: Engine,
  snapshot: SnapshotRecord,
  addressesOf: Instance | null,
): Promise<void> {
  const { spares } = engine.store
  const backend = engine.backend(snapshot.backend).spares
  if (backend === undefined || !snapshot.captured.includes('processes')) return
  const draft = forkDraft(snapshot)
  const { id, name, limits, net } = draft
  const spare: NewSpare = {
    id: randomUUID(),
    kind: 'fork',
    snapshot: snapshot.id,
    environmentId: id,
    name,
    limits,
    createdAt: Date.now(),
  }
  spares.begin(spare)
  killPoint('proof:begun')
  try {
    await backend.prepare({ id, limits, net, snapshot, identity: identityOf(draft), addressesOf })
    killPoint('proof:made')
  } finally {
    try {
      await endSpare(engine, { ...spare, instance: null })
    } finally {
      spares.remove(spare.id)
    }
  }
}
