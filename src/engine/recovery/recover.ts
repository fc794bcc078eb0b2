import type { EnvironmentRecord } from '../../model/environment.ts'
import { BackendError } from '../../model/errors.ts'
import { type EnvironmentId, isSnapshotId } from '../../model/ids.ts'
import type { Operation } from '../../store/journal.ts'
import type { AcquireOptions, Lease } from '../../store/leases.ts'
import type { Engine } from '../engine.ts'
import { retire } from '../spares/discard.ts'
import { giveBack } from './give-back.ts'

/**
 * An environment for this caller alone, as its record says: what a process that was killed left
 * half-done is put right first, however long this one has been running. What cannot be put right is
 * told as a warning and tried again by the next: it must not lock anybody out of what runs.
 */
export async function hold(
  engine: Engine,
  id: EnvironmentId,
  what: string,
  options?: AcquireOptions,
): Promise<Lease> {
  const lease = await engine.store.leases.acquire(`env:${id}`, what, options)
  try {
    const [failure] = await recoverEnvironment(engine, id)
    // Its files are not all back: it must not run, and nobody can use it.
    if (failure && (await isStuck(engine, id))) throw failure.error
    return lease
  } catch (error) {
    lease.release()
    throw error
  }
}

/** Whether what should run is frozen. */
async function isStuck(engine: Engine, id: EnvironmentId): Promise<boolean> {
  const record = engine.store.environments.get(id)
  if (!record?.instance || record.status !== 'running') return false
  return (await engine.backend(record.backend).inspect(id, record.instance)) === 'paused'
}

/** An operation that could not be put right. */
export interface Unrecovered {
  readonly operation: Operation
  readonly error: Error
}

/**
 * Undoes or completes what was left half-done with one environment, and says what could not be. Only
 * for who has its lease: every operation begins and ends under it, so one that is open then is one
 * that nobody goes on with.
 */
export async function recoverEnvironment(
  engine: Engine,
  id: EnvironmentId,
): Promise<readonly Unrecovered[]> {
  const { journal } = engine.store
  const left: Unrecovered[] = []
  for (const operation of journal.open(id)) {
    try {
      await putRight(engine, operation, id)
      journal.rolledBack(operation)
    } catch (error) {
      // What is only half given back stays open, and is tried again by whoever comes next.
      if (removals.has(operation.kind)) journal.fail(operation, error)
      left.push({ operation, error: error as Error })
      warn(engine, operation, error as Error)
    }
  }
  return left
}

/** Tells the user of an operation that could not be put right; the environment can still be used. */
export function warn(engine: Engine, { id, kind, environmentId }: Operation, error: Error): void {
  const what = environmentId === null ? kind : `${kind} of ${environmentId}`
  const giveUp = environmentId === null ? '' : `; \`forkpoint rm ${environmentId}\` gives it up`
  const warning = new BackendError(`an unfinished ${what} cannot be undone: ${error.message}`, {
    cause: error,
    remedy: `every command tries again${giveUp}`,
    detail: { operation: id },
  })
  engine.warnings.add(id, warning)
}

/** Put right by taking something away; what is left of that stays listed, and can be removed. */
const removals = new Set(['create', 'fork', 'remove'])

async function putRight(engine: Engine, operation: Operation, id: EnvironmentId): Promise<void> {
  const { environments } = engine.store
  const record = environments.get(id)
  if (record === undefined) return await dropDraft(engine, operation, null)
  const backend = engine.backend(record.backend)
  if (isUndoneByRemoval(operation.kind, record)) {
    await backend.destroy(id)
    environments.remove(id)
    return
  }
  await each(
    // What was committed is in the record; every other life of the environment is not.
    () => retire(engine, record, record.instance),
    () => dropDraft(engine, operation, record),
  )
  if (!record.instance || (record.status !== 'running' && record.status !== 'paused')) return
  environments.update(id, { status: await backend.inspect(id, record.instance) })
}

/** Every step, also after one has failed: what one cannot give back must not keep another frozen. */
export async function each(...steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) await step().catch((error) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** A snapshot that was not committed gives back what it took. */
async function dropDraft(
  engine: Engine,
  { payload }: Operation,
  record: EnvironmentRecord | null,
): Promise<void> {
  const { snapshots } = engine.store
  const draft = isSnapshotId(payload.snapshot) ? snapshots.get(payload.snapshot) : undefined
  if (draft?.status !== 'writing') return
  const instance = record?.instance
  if (instance) return await giveBack(engine, { ...record, instance }, draft.id)
  await engine.backend(draft.backend).discard(draft.id)
  snapshots.remove(draft.id)
}

/** A create that was not finished never gave anything to anyone; a removal is completed. */
function isUndoneByRemoval(kind: string, record: EnvironmentRecord): boolean {
  return (
    ((kind === 'create' || kind === 'fork') && record.status === 'creating') ||
    (kind === 'remove' && record.status === 'removing')
  )
}
