import { isDeepStrictEqual } from 'node:util'
import { killPoint } from '../../linux/kill-points.ts'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import type { ReadySpare } from '../../store/spares.ts'
import type { Engine } from '../engine.ts'
import { identityOf } from '../operations/identity.ts'

/**
 * A prepared next life of this environment, for the caller alone. Taken in the transaction that
 * writes down what it is taken for, so that it is never nobody's.
 */
export function takeForRestore(
  { settings, store }: Engine,
  environmentId: EnvironmentId,
  snapshot: SnapshotId,
): ReadySpare | undefined {
  if (settings.spares.count === 0) return undefined
  return store.spares.take({ kind: 'restore', snapshot, environmentId })
}

/** A prepared environment; the new one takes the id that it was made with. */
export function takeForFork(
  { settings, store }: Engine,
  snapshot: SnapshotId,
): ReadySpare | undefined {
  if (settings.spares.count === 0) return undefined
  return store.spares.take({ kind: 'fork', snapshot })
}

/**
 * Lets a prepared branch run as `record` and meets its agent. Null if it was not what it should have
 * been; then it is gone, and the branch has to be made.
 */
export async function runSpare<T>(
  engine: Engine,
  record: EnvironmentRecord,
  { instance, name, limits }: ReadySpare,
  meet: (instance: Instance) => Promise<T>,
): Promise<T | null> {
  const backend = engine.backend(record.backend)
  try {
    const identity = name === record.name ? null : identityOf(record)
    const fits = isDeepStrictEqual(limits, record.limits)
    if (fits && (await backend.wake(record.id, instance, identity))) {
      killPoint('spare:running')
      return await meet(instance)
    }
  } catch {
    // Whatever is wrong with it: the long way is always there.
  }
  await backend.end(record.id, instance)
  return null
}
