import { BackendError, ConflictError } from '../../../model/errors.ts'
import { quote } from '../../../model/quote.ts'
import type { Operation } from '../../../store/journal.ts'
import type { Lease } from '../../../store/leases.ts'
import type { Store } from '../../../store/open-store.ts'
import type { Step } from './plan.ts'
import { planPath, readPlan, removePlan } from './plan-file.ts'
import { removeStaging, Staging, undoSteps } from './staging.ts'
import { type Identity, TargetDirectory } from './target-directory.ts'

/** What apply needs of the store. */
export type ApplyStore = Pick<Store, 'home' | 'journal' | 'leases'>

/** What the journal says about an apply. */
interface ApplyFacts extends Identity {
  readonly target: string
  /** name of the staging directory in it */
  readonly staging: string
}

export function leaseOf({ device, inode }: Identity): string {
  return `apply:${device}:${inode}`
}

/** Undoes what was left half-done in this directory. Only for who has its lease. */
export async function recoverTarget(store: ApplyStore, target: TargetDirectory): Promise<void> {
  for (const operation of store.journal.open()) {
    const facts = operation.kind === 'apply' ? factsOf(operation) : null
    if (facts === null || leaseOf(facts) !== leaseOf(target.identity)) continue
    await putBack(store, operation, facts, target)
    store.journal.rolledBack(operation)
  }
}

/** Undoes an apply whose process is gone, wherever it was; false if somebody is at work there. */
export async function recoverApply(store: ApplyStore, operation: Operation): Promise<boolean> {
  const facts = factsOf(operation)
  if (facts === null) throw new BackendError(`no target is known of the apply ${operation.id}`)
  using lease = tryLease(store, facts)
  if (!lease || !store.journal.open().some(({ id }) => id === operation.id)) return false
  await using target = await TargetDirectory.open(facts.target)
  await putBack(store, operation, facts, target)
  store.journal.rolledBack(operation)
  return true
}

function tryLease(store: ApplyStore, facts: ApplyFacts): Lease | undefined {
  return store.leases.tryAcquire(leaseOf(facts), 'recovering apply')
}

/**
 * Without a plan nothing of the target was touched, or all was done. The device is not compared: its
 * number may be another after a restart, and two inodes and a name that nobody can guess are enough.
 */
async function putBack(
  { home }: ApplyStore,
  { id }: Operation,
  { staging: name }: ApplyFacts,
  target: TargetDirectory,
): Promise<void> {
  const plan = await readPlan(home, id)
  if (plan !== null) {
    if (plan.inodes.target !== target.identity.inode)
      throw otherDirectory(target, planPath(home, id))
    await using staging = await Staging.find(target, name, plan.inodes.staging)
    if (staging !== null) await undo(staging, plan.steps, planPath(home, id))
  }
  await removePlan(home, id)
  await removeStaging(target, name)
}

/** Says where everything is if it cannot be put back. */
export async function undo(staging: Staging, steps: readonly Step[], plan: string): Promise<void> {
  try {
    await undoSteps(staging, steps)
  } catch (cause) {
    throw new NotPutBackError(staging, plan, cause)
  }
}

/** The operation stays open: the next command tries again. */
export class NotPutBackError extends ConflictError {
  constructor({ target, name }: Staging, plan: string, cause: unknown) {
    super(`cannot put back what was in ${quote(target.path)}: ${(cause as Error).message}`, {
      remedy:
        `what is missing there is in ${name}/old, from where ${plan} says; the next command tries ` +
        'again, unless you remove that plan',
      cause,
    })
  }
}

function factsOf({ payload }: Operation): ApplyFacts | null {
  const { target, device, inode, staging } = payload
  if (typeof target !== 'string' || typeof staging !== 'string') return null
  if (typeof device !== 'string' || typeof inode !== 'string') return null
  return { target, device, inode, staging }
}

function otherDirectory(target: TargetDirectory, plan: string): ConflictError {
  return new ConflictError(
    `an apply to ${quote(target.path)} was interrupted, and another directory is there now`,
    { remedy: `move the one back; or give up what was in it, and remove ${plan}` },
  )
}
