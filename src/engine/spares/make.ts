import { randomUUID } from 'node:crypto'
import { killPoint } from '../../linux/kill-points.ts'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { NewSpare } from '../../store/spares.ts'
import type { Engine } from '../engine.ts'
import { forkDraft } from '../operations/fork-draft.ts'
import { identityOf } from '../operations/identity.ts'
import { endSpare } from './discard.ts'
import { isMet, type Want } from './wants.ts'

interface Draft {
  readonly spare: NewSpare
  readonly record: EnvironmentRecord
  readonly snapshot: SnapshotRecord
}

/** Prepares one branch; its id, or null if it is not to be had, or nobody wants it any more. */
export async function makeSpare(engine: Engine, want: Want): Promise<string | null> {
  const { store } = engine
  const draft = begin(engine, want)
  if (draft === null) return null
  const { spare, record, snapshot } = draft
  killPoint('spare:recorded')
  const backend = engine.backend(record.backend)
  let instance: Instance | null = null
  try {
    instance = await backend.prepare({
      ...{ id: record.id, limits: record.limits, net: record.net, snapshot },
      identity: identityOf(record),
    })
    killPoint('spare:made')
    const memoryBytes = await backend.privateBytes(record.id, instance)
    if (store.spares.ready(spare.id, { instance, memoryBytes })) {
      killPoint('spare:ready')
      return spare.id
    }
  } catch {
    // Nobody asked for it; whoever does is told what is wrong.
  }
  try {
    await endSpare(engine, { ...spare, instance })
  } finally {
    // Last: whoever discards it waits for this.
    store.spares.remove(spare.id)
  }
  return null
}

/** Written down before anything is made, and only if it could be used. */
function begin({ store }: Engine, want: Want): Draft | null {
  return store.transaction(() => {
    const snapshot = store.snapshots.get(want.snapshot)
    const record = snapshot && recordFor(store, want, snapshot)
    if (!record || snapshot.status !== 'ready' || !snapshot.captured.includes('processes')) {
      return null
    }
    // The address of an environment can be had once only.
    if (record.net.mode !== 'none' || isMet(want, store.spares.list())) return null
    const { id: environmentId, name, limits } = record
    const spare: NewSpare = {
      ...{ id: randomUUID(), kind: want.kind, snapshot: snapshot.id, createdAt: Date.now() },
      ...{ environmentId, name, limits },
    }
    store.spares.begin(spare)
    return { spare, record, snapshot }
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
  // Without any environment, the last one out gives back what all of them share.
  return environments.any() ? forkDraft(snapshot) : null
}
