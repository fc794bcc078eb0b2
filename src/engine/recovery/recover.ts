import type { EnvironmentRecord } from '../../model/environment.ts'
import { BackendError } from '../../model/errors.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Operation } from '../../store/journal.ts'
import type { AcquireOptions, Lease } from '../../store/leases.ts'
import type { Engine } from '../engine.ts'
import { retire } from '../spares/discard.ts'
import { giveBack } from './give-back.ts'
import { putBackNet } from './put-back-net.ts'

/**
 * Holds an environment for this caller alone, in the state that its record says: first recovers what a
 * killed process left half-done, even if that happened after we started. What it cannot recover becomes
 * a warning, and the next caller tries again: it must not lock anybody out of a running environment.
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
    // Some of its files are missing: it must not run, and nobody can use it.
    if (failure && (await isStuck(engine, id))) throw failure.error
    return lease
  } catch (error) {
    lease.giveUp()
    throw error
  }
}

/** Whether an environment that should run is frozen. */
async function isStuck(engine: Engine, id: EnvironmentId): Promise<boolean> {
  const record = engine.store.environments.get(id)
  if (!record?.instance || record.status !== 'running') return false
  return (
    (await engine.backend(record.backend).inspect({ id, instance: record.instance })) === 'paused'
  )
}

/** An operation that could not be recovered. */
export interface Unrecovered {
  readonly operation: Operation
  readonly error: Error
}

/**
 * Undoes or completes what was left half-done in one environment, and returns what could not be
 * recovered. The caller must hold its lease: every operation begins and ends under it, so nobody is
 * working on one that is open now.
 */
export async function recoverEnvironment(
  engine: Engine,
  id: EnvironmentId,
): Promise<readonly Unrecovered[]> {
  const { journal } = engine.store
  const left: Unrecovered[] = []
  for (const operation of journal.open(id)) {
    try {
      await recoverOperation(engine, operation, id)
      journal.rolledBack(operation)
    } catch (error) {
      // One that gave back only a part stays open, and the next caller tries again.
      if (removals.has(operation.kind)) journal.fail(operation, error)
      left.push({ operation, error: error as Error })
      warn(engine, operation, error as Error)
    }
  }
  return left
}

/** Warns the user about an operation that could not be recovered; the environment can still be used. */
export function warn(engine: Engine, { id, kind, environmentId }: Operation, error: Error): void {
  const what = environmentId === null ? kind : `${kind} of ${environmentId}`
  const giveUp = environmentId === null ? '' : `; to give up, run \`forkpoint rm ${environmentId}\``
  const warning = new BackendError(`an unfinished ${what} cannot be undone: ${error.message}`, {
    cause: error,
    remedy: `every command tries to undo it again${giveUp}`,
    detail: { operation: id },
  })
  engine.warnings.add(id, warning)
  engine.log.warn({ operation: id, kind, environment: environmentId, err: error }, warning.message)
}

/** Recovered by removing something; if that fails, the environment stays listed and can be removed. */
const removals = new Set(['create', 'attach', 'fork', 'remove'])

async function recoverOperation(
  engine: Engine,
  operation: Operation,
  id: EnvironmentId,
): Promise<void> {
  const { environments } = engine.store
  const record = environments.get(id)
  if (record === undefined) return await dropDraft(engine, operation, null)
  const backend = engine.backend(record.backend)
  if (isUndoneByRemoval(operation.kind, record)) {
    await backend.destroy(id)
    environments.remove(id)
    return
  }
  if (operation.kind === 'net') await putBackNet(engine, record)
  await runAll(
    // The record holds what was committed, so every other life ends.
    () => retire(engine, record, record.instance),
    () => dropDraft(engine, operation, record),
  )
  if (!record.instance || (record.status !== 'running' && record.status !== 'paused')) return
  const { instance } = record
  environments.update(id, { status: await backend.inspect({ id, instance }) })
}

/** Runs every step, even after one has failed; then throws the first failure. */
async function runAll(...steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) await step().catch((error) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** Gives back what a snapshot took that was not committed. */
async function dropDraft(
  engine: Engine,
  { payload }: Operation,
  record: EnvironmentRecord | null,
): Promise<void> {
  const { snapshots } = engine.store
  const draft = payload.snapshot === undefined ? undefined : snapshots.get(payload.snapshot)
  if (draft?.status !== 'writing') return
  const instance = record?.instance
  if (instance) return await giveBack(engine, { ...record, instance }, draft.id)
  await engine.backend(draft.backend).abandon(null, draft.id)
  snapshots.remove(draft.id)
}

const makings = new Set(['create', 'attach', 'fork'])

/** Nobody has used an environment that was not finished, so it goes; a removal is completed. */
function isUndoneByRemoval(kind: string, record: EnvironmentRecord): boolean {
  return (
    (makings.has(kind) && record.status === 'creating') ||
    (kind === 'remove' && record.status === 'removing')
  )
}
