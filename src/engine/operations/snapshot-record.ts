import { setTimeout as sleep } from 'node:timers/promises'
import { ConflictError } from '../../model/errors.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord, SnapshotStatus } from '../../model/snapshot.ts'
import type { Engine } from '../engine.ts'
import { checked } from '../inputs/checked.ts'
import { labelChanges } from '../inputs/maps.ts'
import { filterInput } from '../inputs/store-inputs.ts'
import { hold } from '../recovery/recover.ts'
import { requireReady } from './restore.ts'

export interface SnapshotFilter {
  /** those taken of this environment: its id, the beginning of it, or its name */
  readonly environment?: string
  readonly name?: string
  readonly status?: SnapshotStatus
  /** labels that must all be present with these values */
  readonly labels?: Readonly<Record<string, string>>
}

/** Oldest first. */
export function listSnapshots(engine: Engine, filter: SnapshotFilter): SnapshotRecord[] {
  const { snapshots, environments } = engine.store
  const { environment, name, status, labels = {} } = checked('snapshots', filterInput, filter)
  const of = environment === undefined ? undefined : environments.resolve(environment).id
  return snapshots
    .list(of)
    .filter((record) => name === undefined || record.name === name)
    .filter((record) => status === undefined || record.status === status)
    .filter((record) =>
      Object.entries(labels).every(([key, value]) => record.labels[key] === value),
    )
}

export function labelSnapshot(
  { store }: Engine,
  id: SnapshotId,
  given: Readonly<Record<string, string | null>>,
): SnapshotRecord {
  const changes = checked('label', labelChanges, given)
  return store.transaction(() => {
    const merged = { ...store.snapshots.resolve(id).labels, ...changes }
    const kept = Object.entries(merged).filter((pair): pair is [string, string] => pair[1] !== null)
    return store.snapshots.update(id, { labels: Object.fromEntries(kept) })
  })
}

/** Another process may be writing it: its record is all there is to see of that. */
const lookEveryMs = 20

export async function whenReady(engine: Engine, id: SnapshotId): Promise<SnapshotRecord> {
  const { store } = engine
  for (;;) {
    const record = store.snapshots.get(id)
    if (record === undefined) {
      throw new ConflictError(`snapshot ${id} is gone: taking it failed, or it was removed`, {
        remedy: 'take another one',
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
    await sleep(lookEveryMs)
  }
}

function leftHalfDone({ id }: SnapshotRecord): ConflictError {
  return new ConflictError(
    `snapshot ${id} was not finished, and what it took cannot be given back`,
    {
      remedy: '`forkpoint doctor` says why; take another one',
    },
  )
}

/** Whether the process that was writing it is gone. */
function isAbandoned({ store }: Engine, { id, environmentId }: SnapshotRecord): boolean {
  return store.journal.abandoned(environmentId).some(({ payload }) => payload.snapshot === id)
}
