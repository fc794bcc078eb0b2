import { randomUUID } from 'node:crypto'
import type { Spares } from '../../backends/facets.ts'
import { killPoint } from '../../linux/kill-points.ts'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { NewSpare } from '../../store/spares.ts'
import type { Engine } from '../engine.ts'
import type { CopyMemory } from '../memory/copy-memory.ts'
import { isWithinLimits } from '../memory/limits.ts'
import { forkDraft } from '../operations/fork/fork-draft.ts'
import { identityOf } from '../operations/identity.ts'
import { proveNow } from '../proofs/prove.ts'
import { isItsOwnFault, recordProven } from '../proofs/record-proof.ts'
import { endSpare } from './discard.ts'
import { isMet, type Want } from './wants.ts'

interface Draft {
  readonly spare: NewSpare
  readonly record: EnvironmentRecord
  readonly snapshot: SnapshotRecord
  readonly backend: Spares
}

/** Prepares one branch. Returns its id, or null if it cannot be made or nobody wants it anymore. */
export async function makeSpare(
  engine: Engine,
  want: Want,
  memory: CopyMemory,
): Promise<string | null> {
  const { store } = engine
  const draft = begin(engine, want)
  if (draft === null) return null
  const { spare, record, snapshot, backend } = draft
  killPoint('spare:recorded')
  const { id, limits, net } = record
  let instance: Instance | null = null
  let failure: unknown = null
  try {
    const spec = { id, limits, net, snapshot, identity: identityOf(record), addressesOf: null }
    instance = await memory.fill(() => backend.prepare(spec))
    killPoint('spare:made')
    recordProven(engine, snapshot.id)
    const memoryBytes = await backend.privateBytes({ id, instance })
    if (store.spares.ready(spare.id, { instance, memoryBytes })) {
      killPoint('spare:ready')
      return spare.id
    }
  } catch (err) {
    // Nobody has asked for this branch yet; whoever does will get the error.
    engine.log.warn({ err, snapshot: snapshot.id }, 'preparing a spare failed')
    failure = err
  }
  try {
    await endSpare(engine, { ...spare, instance })
  } finally {
    // Comes last, because whoever discards it waits for this.
    store.spares.remove(spare.id)
  }
  if (isItsOwnFault(failure)) await settleDoubt(engine, snapshot)
  return null
}

/** For a snapshot whose spares cannot be kept: whether it restores should still be known. */
export async function proveWithoutSpare(
  engine: Engine,
  snapshot: SnapshotRecord,
  memory: CopyMemory,
): Promise<void> {
  const { id, proof, status, origin } = snapshot
  const isUnknown = proof === 'unproven' && status === 'ready' && origin.net.mode === 'none'
  if (!isUnknown || !engine.store.environments.any()) return
  if (isWithinLimits(snapshot, origin.limits)) await proveNow(engine, id, memory)
}

/** Finds out whether the snapshot can be restored at all, and records it. */
async function settleDoubt(engine: Engine, { id }: SnapshotRecord): Promise<void> {
  if (engine.store.snapshots.get(id)?.proof !== 'unproven') return
  await proveNow(engine, id).catch((err) => {
    // Recorded if it is the snapshot's own fault; otherwise the next attempt tells.
    engine.log.warn({ err, snapshot: id }, 'a snapshot could not be proven')
  })
}

/** Records the spare before anything is made, and only if somebody could use it. */
function begin(engine: Engine, want: Want): Draft | null {
  const { store } = engine
  return store.transaction(() => {
    const snapshot = store.snapshots.get(want.snapshot)
    const record = snapshot && recordFor(store, want, snapshot)
    if (!record || snapshot.status !== 'ready' || !snapshot.captured.includes('processes')) {
      return null
    }
    const backend = engine.backend(record.backend).spares
    if (backend === undefined) return null
    // Only one life at a time can have an environment's address.
    if (record.net.mode !== 'none' || isMet(want, store.spares.list())) return null
    if (!isWithinLimits(snapshot, record.limits)) return null
    const { id: environmentId, name, limits } = record
    const spare: NewSpare = {
      id: randomUUID(),
      kind: want.kind,
      snapshot: snapshot.id,
      createdAt: Date.now(),
      environmentId,
      name,
      limits,
    }
    store.spares.begin(spare)
    return { spare, record, snapshot, backend }
  })
}

function recordFor(
  { environments }: Engine['store'],
  want: Want,
  snapshot: SnapshotRecord,
): EnvironmentRecord | null {
  if (want.kind === 'restore') {
    const record = environments.get(want.environmentId)
    return record?.status === 'running' || record?.status === 'paused' ? record : null
  }
  // Without any environment, what they share is being freed.
  return environments.any() ? forkDraft(snapshot) : null
}
