import type { Backend, Remnant } from '../../backends/backend.ts'
import { BackendError } from '../../model/errors.ts'
import type { Operation } from '../../store/journal.ts'
import { discardUnrecorded, squashLease } from '../background/compact.ts'
import { resumeFlushes } from '../background/durability.ts'
import type { Engine } from '../engine.ts'
import { completePrune } from '../operations/prune.ts'
import { freeIfUnused } from '../operations/remove.ts'
import { discardAbandoned } from '../spares/discard.ts'
import { handOverApply, type UnrecoveredApply, undoApplies } from './applies.ts'
import { markDead } from './liveness.ts'
import { recoverEnvironment, type Unrecovered, warn } from './recover.ts'
import { unlessUnreachable } from './unreachable.ts'

/**
 * Makes the store and the machine agree after a process was killed or the machine went down: undoes or
 * completes half-done operations, marks dead environments, and removes what belongs to no record. It
 * is cheap when nothing needs doing, because every command begins with it. What it cannot recover must
 * not stop the command: it stays listed so that users can remove it, and `doctor` reports it.
 */
export async function reconcile(engine: Engine): Promise<void> {
  for (const { machine } of engine.backends()) {
    if (machine === undefined) continue
    if (engine.store.snapshots.any()) await machine.ready()
    await tried(engine, 'hardening running environments', () => machine.harden())
  }
  await tried(engine, 'ending spares of killed processes', () => discardAbandoned(engine))
  const { recovered } = await recoverAbandoned(engine)
  await markDead(engine)
  warnOfOutdated(engine)
  let removed = 0
  await tried(engine, 'removing leftovers without a record', async () => {
    removed = await removeOrphans(engine)
  })
  resumeFlushes(engine)
  if (recovered + removed > 0) {
    await tried(engine, 'freeing what environments share', () => freeIfUnused(engine))
  }
}

/** Recovers what killed processes left; reports how many operations, and which it could not recover. */
export async function recoverAbandoned(engine: Engine): Promise<{
  readonly recovered: number
  readonly left: readonly Unrecovered[]
  readonly applies: readonly UnrecoveredApply[]
}> {
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
  const applies = await undoApplies(engine)
  return { recovered: recovered + applies.recovered, left, applies: applies.left }
}

/** What could not be recovered; null if another process holds it, and recovers it itself. */
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
  using squashing = kind === 'squash' ? leases.tryAcquire(squashLease, 'recovering squash') : null
  if (squashing === undefined || journal.claim(operation) === undefined) return null
  try {
    if (kind === 'prune') await completePrune(engine, operation)
    if (kind === 'squash') await discardUnrecorded(engine, operation)
    if (kind === 'apply') await handOverApply(engine, operation)
    journal.rolledBack(operation)
    return []
  } catch (error) {
    // The rest stays listed, or bothers nobody.
    journal.fail(operation, error)
    throw error
  }
}

/** An environment started by an earlier version keeps that version's system call filter and ids. */
function warnOfOutdated(engine: Engine): void {
  for (const { id, name, backend, instance } of engine.store.environments.list()) {
    if (instance === null) continue
    if (!engine.backend(backend).machine?.isOutdated({ id, instance })) continue
    const subject = name ?? id
    const warning = new BackendError(
      `${subject} was started by an earlier version, and is less isolated than a new environment`,
      { remedy: `run \`forkpoint snapshot ${subject}\`, which moves it to this version` },
    )
    engine.warnings.add(`outdated:${id}`, warning)
  }
}

async function removeOrphans(engine: Engine): Promise<number> {
  let count = 0
  for (const backend of engine.backends()) {
    // Lists remnants before it reads records, because a record is always written first.
    for (const remnant of await unlessUnreachable(engine, [], () => backend.remnants())) {
      if (!isKnown(engine, remnant) && (await removeOrphan(engine, backend, remnant))) count += 1
    }
  }
  return count
}

function isKnown({ store }: Engine, remnant: Remnant): boolean {
  const record = store.environments.get(remnant.id)
  const spares = store.spares.list({ environmentId: remnant.id })
  // Only the process that is making a spare knows which life it will be.
  return [record?.instance ?? undefined, ...spares.map(({ instance }) => instance)].some(
    (instance) => instance === null || (instance && remnant.isPartOf(instance)),
  )
}

/**
 * Leaves it alone while somebody holds its lease: `doctor` holds those of its test cells, which have no
 * record. Checks again under the lease, because its last holder may have written a record.
 */
async function removeOrphan(engine: Engine, backend: Backend, remnant: Remnant): Promise<boolean> {
  const { environments, leases } = engine.store
  using lease = leases.tryAcquire(`env:${remnant.id}`, 'removing leftovers')
  if (!lease || isKnown(engine, remnant)) return false
  return await tried(engine, `removing what is left of ${remnant.id}`, () =>
    environments.get(remnant.id) ? remnant.end() : backend.destroy(remnant.id),
  )
}

/** Whether it succeeded. Whoever depends on it will run into the same failure and report it. */
async function tried(engine: Engine, doing: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (err) {
    engine.log.warn({ err }, `${doing} failed`)
    return false
  }
}
