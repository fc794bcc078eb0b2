import { isDeepStrictEqual } from 'node:util'
import { killPoint } from '../../linux/kill-points.ts'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import type { ReadySpare, SpareFilter } from '../../store/spares.ts'
import type { Engine } from '../engine.ts'
import { identityOf } from '../operations/identity.ts'

/**
 * Takes a prepared next life of this environment, for the caller alone. Call it in the transaction that
 * records the operation, so that the spare always has an owner.
 */
export function takeForRestore(
  { settings, store }: Engine,
  environmentId: EnvironmentId,
  snapshot: SnapshotId,
): ReadySpare | undefined {
  if (settings.spares.count === 0) return undefined
  return store.spares.take({ kind: 'restore', snapshot, environmentId })
}

/** Takes a prepared environment; the fork gets the id it was made with. */
export function takeForFork(
  { settings, store }: Engine,
  snapshot: SnapshotId,
): ReadySpare | undefined {
  if (settings.spares.count === 0) return undefined
  return store.spares.take({ kind: 'fork', snapshot })
}

/** How many that a caller could take are ready. */
export function countReady({ settings, store }: Engine, which: SpareFilter): number {
  if (settings.spares.count === 0) return 0
  return store.spares.list(which).filter(({ state }) => state === 'ready').length
}

/**
 * Wakes a spare to run as `record`, then calls `whenAwake`. If the spare cannot be used, ends it and
 * returns null; the caller then makes the branch itself.
 */
export async function runSpare<T>(
  engine: Engine,
  record: EnvironmentRecord,
  { kind, instance, name, limits }: ReadySpare,
  whenAwake: (instance: Instance) => Promise<T>,
): Promise<T | null> {
  const backend = engine.backend(record.backend)
  const ref = { id: record.id, instance }
  try {
    const identity = name === record.name ? null : identityOf(record)
    const fits = isDeepStrictEqual(limits, record.limits)
    if (fits && (await backend.spares?.wake(ref, identity))) {
      killPoint('spare:running')
      const woken = await whenAwake(instance)
      engine.spareCounts.used[kind] += 1
      return woken
    }
  } catch (err) {
    // Whatever is wrong with it, the branch is made from the snapshot instead.
    engine.log.warn({ err, environment: record.id }, 'a spare could not be used')
  }
  await backend.end(ref)
  return null
}
