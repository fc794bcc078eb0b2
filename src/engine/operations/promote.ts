import type { EnvironmentRecord } from '../../model/environment.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { type EnvironmentId, isEnvironmentId, type SnapshotId } from '../../model/ids.ts'
import type { Engine } from '../engine.ts'
import { hold } from '../recovery/recover.ts'
import { exchange } from './restore.ts'
import { snapshot } from './snapshot.ts'

/**
 * Makes one environment's state the state of another: the branch that won becomes the trunk. The
 * winner goes on by itself, and what it was at this moment is kept as a snapshot.
 */
export async function promote(
  engine: Engine,
  from: EnvironmentId | SnapshotId,
  into: EnvironmentId,
): Promise<EnvironmentRecord> {
  if (String(from) === into) {
    throw new InvalidInputError('an environment cannot be promoted into itself', {
      remedy: 'name the branch to keep, then the environment that is to become it',
    })
  }
  const winner = isEnvironmentId(from)
    ? await snapshot(engine, from, {})
    : engine.store.snapshots.resolve(from)
  await using lease = await hold(engine, into, 'promote')
  return await exchange(engine, lease, into, winner, 'promote')
}
