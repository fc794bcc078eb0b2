import type { EnvironmentRecord } from '../model/environment.ts'
import { ForkpointError } from '../model/errors.ts'
import { type EnvironmentId, isSnapshotId } from '../model/ids.ts'
import type { Operation } from '../store/journal.ts'
import { discardUnrecorded } from './compact.ts'
import { resumeFlushes } from './durability.ts'
import type { Engine } from './engine.ts'
import { markDead } from './liveness.ts'
import { completePrune } from './prune.ts'
import { releaseIfUnused } from './remove.ts'
import { discardAbandoned, retire } from './spares/discard.ts'

/**
 * Puts the store and the machine in agreement after a process was killed or the machine went down:
 * half-done operations are undone or completed, dead environments are marked, and what belongs to no
 * record is removed. Cheap when there is nothing to do, as every command begins with it. What cannot
 * be put right must not keep the command from working: it stays listed, to be removed again.
 */
export async function reconcile(engine: Engine): Promise<void> {
  if (engine.store.snapshots.list().length > 0) await engine.backend('native').ready()
  await tried(() => discardAbandoned(engine))
  const recovered = await recoverAbandoned(engine)
  markDead(engine)
  const removed = await removeOrphans(engine)
  resumeFlushes(engine)
  if (recovered + removed > 0) await tried(() => releaseIfUnused(engine, 'native'))
}

async function recoverAbandoned(engine: Engine): Promise<number> {
  let count = 0
  for (const operation of engine.store.journal.abandoned()) {
    const claimed = engine.store.journal.claim(operation)
    if (claimed === undefined) continue
    await recover(engine, claimed)
    count += 1
  }
  return count
}

async function recover(engine: Engine, operation: Operation): Promise<void> {
  const { kind, environmentId: id } = operation
  const { journal } = engine.store
  try {
    if (kind === 'prune') return await completePrune(engine, operation)
    if (kind === 'squash') await discardUnrecorded(engine, operation)
    if (id !== null) {
      await engine.exclusively(`env:${id}`, `recovering ${kind}`, () =>
        putRight(engine, operation, id),
      )
    }
    journal.rolledBack(operation)
  } catch (error) {
    // What is only half given back is tried again by the next process; this one goes on without.
    if (removals.has(kind)) journal.fail(operation, error)
    else if (!(error instanceof ForkpointError)) throw error
  }
}

/** Put right by taking something away; what is left of that stays listed, and can be removed. */
const removals = new Set(['create', 'fork', 'remove', 'prune', 'squash'])

async function putRight(engine: Engine, operation: Operation, id: EnvironmentId): Promise<void> {
  const { environments } = engine.store
  const record = environments.get(id)
  if (record === undefined) return
  const backend = engine.backend(record.backend)
  if (isUndoneByRemoval(operation.kind, record)) {
    await backend.destroy(id)
    environments.remove(id)
    return
  }
  // What was committed is in the record; every other life of the environment is not.
  await retire(engine, record, record.instance)
  await dropDraft(engine, record, operation)
  if (!record.instance) return
  environments.update(id, { status: await backend.inspect(id, record.instance) })
}

/** A snapshot that was not committed gives back what it took. */
async function dropDraft(
  engine: Engine,
  record: EnvironmentRecord,
  { payload }: Operation,
): Promise<void> {
  const { snapshots } = engine.store
  const draft = isSnapshotId(payload.snapshot) ? snapshots.get(payload.snapshot) : undefined
  if (draft?.status !== 'writing') return
  const backend = engine.backend(record.backend)
  if (record.instance) await backend.uncapture(record.id, record.instance, draft.id)
  else await backend.discard(draft.id)
  snapshots.remove(draft.id)
}

/** A create that was not finished never gave anything to anyone; a removal is completed. */
function isUndoneByRemoval(kind: string, record: EnvironmentRecord): boolean {
  return (
    ((kind === 'create' || kind === 'fork') && record.status === 'creating') ||
    (kind === 'remove' && record.status === 'removing')
  )
}

async function removeOrphans(engine: Engine): Promise<number> {
  const { environments, spares } = engine.store
  const backend = engine.backend('native')
  let count = 0
  // What is there is listed before the records are read: a record is always written first.
  for (const remnant of await backend.remnants()) {
    const record = environments.get(remnant.id)
    const instances = spares.list({ environmentId: remnant.id }).map(({ instance }) => instance)
    // Which life a spare will be that is still being made, only its maker knows.
    const known = [record?.instance ?? undefined, ...instances].some(
      (instance) => instance === null || (instance && remnant.isPartOf(instance)),
    )
    if (!known && (await removeOrphan(engine, remnant.id))) count += 1
  }
  return count
}

/** Not while somebody has its lease, as `doctor` has those of its cells, which have no record. */
async function removeOrphan(engine: Engine, id: EnvironmentId): Promise<boolean> {
  using lease = engine.store.leases.tryAcquire(`env:${id}`, 'removing what was left over')
  if (!lease) return false
  const record = engine.store.environments.get(id)
  return await tried(() =>
    record ? retire(engine, record, record.instance) : engine.backend('native').destroy(id),
  )
}

/** Whether it succeeded. A failure is met again, and then told, by whoever needs it to succeed. */
async function tried(work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (error instanceof ForkpointError) return false
    throw error
  }
}
