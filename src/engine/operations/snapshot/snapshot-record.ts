import { setTimeout as sleep } from 'node:timers/promises'
import type { Input } from '../../../api/contract/contract.ts'
import { ConflictError } from '../../../model/errors.ts'
import type { SnapshotId } from '../../../model/ids.ts'
import type { SnapshotRecord } from '../../../model/snapshot.ts'
import { carries, changedLabels } from '../../../model/values/labels.ts'
import { parseName } from '../../../model/values/names.ts'
import type { Engine } from '../../engine.ts'
import { hold } from '../../recovery/recover.ts'
import { requireReady } from '../require-ready.ts'

/** Oldest first. */
export function listSnapshots(engine: Engine, filter: Input<'snapshot.list'>): SnapshotRecord[] {
  const { snapshots, environments } = engine.store
  const { environment, name, status, labels = {} } = filter
  const of = environment === undefined ? undefined : environments.resolve(environment).id
  return snapshots
    .list(of)
    .filter((record) => name === undefined || record.name === name)
    .filter((record) => status === undefined || record.status === status)
    .filter((record) => carries(record.labels, labels))
}

export function labelSnapshot(
  { store }: Engine,
  id: SnapshotId,
  changes: Readonly<Record<string, string | null>>,
): SnapshotRecord {
  return store.transaction(() => {
    const { labels } = store.snapshots.resolve(id)
    return store.snapshots.update(id, { labels: changedLabels(labels, changes) })
  })
}

/** Nothing inside knows the name of a snapshot, so that only its record changes. */
export function renameSnapshot({ store }: Engine, id: SnapshotId, name: string): SnapshotRecord {
  return store.snapshots.update(id, { name: parseName(name) })
}

/** Another process may be writing it, and only its record shows when that is done. */
const pollMs = 20

export async function whenReady(engine: Engine, id: SnapshotId): Promise<SnapshotRecord> {
  const { store } = engine
  for (;;) {
    const record = store.snapshots.get(id)
    if (record === undefined) {
      throw new ConflictError(`snapshot ${id} is gone: taking it failed, or it was removed`, {
        remedy: 'take another snapshot',
      })
    }
    if (record.status !== 'writing') {
      requireReady(record)
      return record
    }
    if (isAbandoned(engine, record)) {
      await using _lease = await hold(engine, record.environmentId, 'recovering')
      if (isAbandoned(engine, record)) throw leftHalfDone(record)
    }
    await sleep(pollMs)
  }
}

function leftHalfDone({ id }: SnapshotRecord): ConflictError {
  return new ConflictError(`snapshot ${id} was not finished, and cannot be undone`, {
    remedy: 'run `forkpoint doctor` to see why, then take another snapshot',
  })
}

/** Whether the process that was writing it is gone. */
function isAbandoned({ store }: Engine, { id, environmentId }: SnapshotRecord): boolean {
  return store.journal.abandoned(environmentId).some(({ payload }) => payload.snapshot === id)
}
