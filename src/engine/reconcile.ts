import type { EnvironmentId } from '../model/ids.ts'
import type { Operation } from '../store/journal.ts'
import { discardUnrecorded, squashLease } from './compact.ts'
import { resumeFlushes } from './durability.ts'
import type { Engine } from './engine.ts'
import { markDead } from './liveness.ts'
import { completePrune } from './prune.ts'
import { recoverEnvironment } from './recover.ts'
import { releaseIfUnused } from './remove.ts'
import { discardAbandoned, retire } from './spares/discard.ts'

/**
 * Puts the store and the machine in agreement after a process was killed or the machine went down:
 * half-done operations are undone or completed, dead environments are marked, and what belongs to no
 * record is removed. Cheap when there is nothing to do, as every command begins with it. What cannot
 * be put right must not keep the command from working: it stays listed, to be removed again, and
 * `doctor` tells of it.
 */
export async function reconcile(engine: Engine): Promise<void> {
  if (engine.store.snapshots.any()) await engine.backend('native').ready()
  await tried(() => discardAbandoned(engine))
  const { recovered } = await recoverAbandoned(engine)
  markDead(engine)
  const removed = await removeOrphans(engine)
  resumeFlushes(engine)
  if (recovered + removed > 0) await tried(() => releaseIfUnused(engine, 'native'))
}

/** An operation that could not be put right. */
export interface Unrecovered {
  readonly operation: Operation
  readonly error: Error
}

/** Says how many operations were put right, and which could not be. */
export async function recoverAbandoned(
  engine: Engine,
): Promise<{ readonly recovered: number; readonly left: readonly Unrecovered[] }> {
  const left: Unrecovered[] = []
  let recovered = 0
  for (const operation of engine.store.journal.abandoned()) {
    try {
      if (await recover(engine, operation)) recovered += 1
    } catch (error) {
      left.push({ operation, error: error as Error })
    }
  }
  return { recovered, left }
}

/** False if another process has what it is about, and sees to it. */
async function recover(engine: Engine, operation: Operation): Promise<boolean> {
  const { kind, environmentId: id } = operation
  const { journal, leases } = engine.store
  if (id !== null) {
    using lease = leases.tryAcquire(`env:${id}`, `recovering ${kind}`)
    if (lease) await recoverEnvironment(engine, id)
    return lease !== undefined
  }
  using squashing = kind === 'squash' ? leases.tryAcquire(squashLease, 'recovering squash') : null
  if (squashing === undefined || journal.claim(operation) === undefined) return false
  try {
    if (kind === 'prune') await completePrune(engine, operation)
    if (kind === 'squash') await discardUnrecorded(engine, operation)
    journal.rolledBack(operation)
    return true
  } catch (error) {
    // What is left stays listed, or is in nobody's way.
    journal.fail(operation, error)
    throw error
  }
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
  } catch {
    return false
  }
}
