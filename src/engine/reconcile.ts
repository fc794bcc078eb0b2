import type { EnvironmentRecord } from '../model/environment.ts'
import { ForkpointError } from '../model/errors.ts'
import type { EnvironmentId } from '../model/ids.ts'
import type { Operation } from '../store/journal.ts'
import type { Engine } from './engine.ts'
import { markDead } from './liveness.ts'
import { releaseIfUnused } from './remove.ts'

/**
 * Puts the store and the machine in agreement after a process was killed or the machine went down:
 * half-done operations are undone or completed, dead environments are marked, and what belongs to no
 * record is removed. Cheap when there is nothing to do, as every command begins with it. What cannot
 * be put right must not keep the command from working: it stays listed, to be removed again.
 */
export async function reconcile(engine: Engine): Promise<void> {
  const recovered = await recoverAbandoned(engine)
  markDead(engine)
  const removed = await removeOrphans(engine)
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
    if (id !== null) {
      await engine.exclusively(`env:${id}`, `recovering ${kind}`, () => putRight(engine, kind, id))
    }
    journal.rolledBack(operation)
  } catch (error) {
    journal.fail(operation, error)
  }
}

async function putRight(engine: Engine, kind: string, id: EnvironmentId): Promise<void> {
  const { environments } = engine.store
  const record = environments.get(id)
  if (record === undefined) return
  if (isUndoneByRemoval(kind, record)) {
    await engine.backend(record.backend).destroy(id)
    environments.remove(id)
  } else if (record.instance && (kind === 'pause' || kind === 'resume')) {
    const status = await engine.backend(record.backend).inspect(id, record.instance)
    environments.update(id, { status })
  }
}

/** A create that was not finished never gave anything to anyone; a removal is completed. */
function isUndoneByRemoval(kind: string, record: EnvironmentRecord): boolean {
  return (
    (kind === 'create' && record.status === 'creating') ||
    (kind === 'remove' && record.status === 'removing')
  )
}

async function removeOrphans(engine: Engine): Promise<number> {
  const { environments } = engine.store
  const backend = engine.backend('native')
  let count = 0
  // What is there is listed before the records are read: a record is always written first.
  for (const id of await backend.remnants()) {
    if (environments.get(id) === undefined && (await removeOrphan(engine, id))) count += 1
  }
  return count
}

/** Not while somebody has its lease, as `doctor` has those of its cells, which have no record. */
async function removeOrphan(engine: Engine, id: EnvironmentId): Promise<boolean> {
  using lease = engine.store.leases.tryAcquire(`env:${id}`, 'removing what was left over')
  if (!lease || engine.store.environments.get(id) !== undefined) return false
  return tried(() => engine.backend('native').destroy(id))
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
