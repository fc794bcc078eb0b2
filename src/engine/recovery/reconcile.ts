import type { Backend, Remnant } from '../../backends/backend.ts'
import { BackendError } from '../../model/errors.ts'
import type { Operation } from '../../store/journal.ts'
import { discardUnrecorded, squashLease } from '../background/compact.ts'
import { resumeFlushes } from '../background/durability.ts'
import { recoverApply } from '../copying/apply/recover.ts'
import type { Engine } from '../engine.ts'
import { completePrune } from '../operations/prune.ts'
import { releaseIfUnused } from '../operations/remove.ts'
import { discardAbandoned } from '../spares/discard.ts'
import { markDead } from './liveness.ts'
import { recoverEnvironment, type Unrecovered, warn } from './recover.ts'

/**
 * Puts the store and the machine in agreement after a process was killed or the machine went down:
 * half-done operations are undone or completed, dead environments are marked, and what belongs to no
 * record is removed. Cheap when there is nothing to do, as every command begins with it. What cannot
 * be put right must not keep the command from working: it stays listed, to be removed again, and
 * `doctor` tells of it.
 */
export async function reconcile(engine: Engine): Promise<void> {
  for (const backend of engine.backends()) {
    if (engine.store.snapshots.any()) await backend.ready()
    await tried(() => backend.harden())
  }
  await tried(() => discardAbandoned(engine))
  const { recovered } = await recoverAbandoned(engine)
  markDead(engine)
  warnOfOutdated(engine)
  let removed = 0
  await tried(async () => {
    removed = await removeOrphans(engine)
  })
  resumeFlushes(engine)
  if (recovered + removed > 0) await tried(() => releaseIfUnused(engine))
}

/** Says how many operations were put right, and which could not be. */
export async function recoverAbandoned(
  engine: Engine,
): Promise<{ readonly recovered: number; readonly left: readonly Unrecovered[] }> {
  const left: Unrecovered[] = []
  let recovered = 0
  for (const operation of engine.store.journal.abandoned()) {
    try {
      const failures = await recover(engine, operation)
      left.push(...(failures ?? []))
      if (failures?.length === 0) recovered += 1
    } catch (error) {
      left.push({ operation, error: error as Error })
      warn(engine, operation, error as Error)
    }
  }
  return { recovered, left }
}

/** What could not be put right; null if another process has what it is about, and sees to it. */
async function recover(
  engine: Engine,
  operation: Operation,
): Promise<readonly Unrecovered[] | null> {
  const { kind, environmentId: id } = operation
  const { journal, leases } = engine.store
  if (id !== null) {
    using lease = leases.tryAcquire(`env:${id}`, `recovering ${kind}`)
    return lease ? await recoverEnvironment(engine, id) : null
  }
  if (kind === 'apply') return (await recoverApply(engine.store, operation)) ? [] : null
  using squashing = kind === 'squash' ? leases.tryAcquire(squashLease, 'recovering squash') : null
  if (squashing === undefined || journal.claim(operation) === undefined) return null
  try {
    if (kind === 'prune') await completePrune(engine, operation)
    if (kind === 'squash') await discardUnrecorded(engine, operation)
    journal.rolledBack(operation)
    return []
  } catch (error) {
    // What is left stays listed, or is in nobody's way.
    journal.fail(operation, error)
    throw error
  }
}

/** It runs with the filter of system calls and the ids that an earlier version gave it. */
function warnOfOutdated(engine: Engine): void {
  for (const { id, name, backend, instance } of engine.store.environments.list()) {
    if (instance === null || !engine.backend(backend).isOutdated(instance)) continue
    const subject = name ?? id
    const warning = new BackendError(
      `${subject} runs since an earlier version, behind fewer walls than a new environment`,
      { remedy: `\`forkpoint snapshot ${subject}\` gives it those of this version` },
    )
    engine.warnings.add(`outdated:${id}`, warning)
  }
}

async function removeOrphans(engine: Engine): Promise<number> {
  let count = 0
  for (const backend of engine.backends()) {
    // What is there is listed before the records are read: a record is always written first.
    for (const remnant of await backend.remnants()) {
      if (!isKnown(engine, remnant) && (await removeOrphan(engine, backend, remnant))) count += 1
    }
  }
  return count
}

function isKnown({ store }: Engine, remnant: Remnant): boolean {
  const record = store.environments.get(remnant.id)
  const spares = store.spares.list({ environmentId: remnant.id })
  // Which life a spare will be that is still being made, only its maker knows.
  return [record?.instance ?? undefined, ...spares.map(({ instance }) => instance)].some(
    (instance) => instance === null || (instance && remnant.isPartOf(instance)),
  )
}

/**
 * Not while somebody has its lease, as `doctor` has those of its cells, which have no record. Who had
 * it until now may have made it known.
 */
async function removeOrphan(engine: Engine, backend: Backend, remnant: Remnant): Promise<boolean> {
  const { environments, leases } = engine.store
  using lease = leases.tryAcquire(`env:${remnant.id}`, 'removing what was left over')
  if (!lease || isKnown(engine, remnant)) return false
  return await tried(() =>
    environments.get(remnant.id) ? remnant.end() : backend.destroy(remnant.id),
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
