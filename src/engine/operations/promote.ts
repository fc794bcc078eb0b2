import type { EnvironmentRecord } from '../../model/environment.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { type EnvironmentId, isEnvironmentId, type SnapshotId } from '../../model/ids.ts'
import { requireCapability } from '../capabilities.ts'
import type { Engine } from '../engine.ts'
import { hold } from '../recovery/recover.ts'
import { exchange, type RestoreOptions } from './restore.ts'
import { snapshot } from './snapshot/snapshot.ts'

/**
 * Makes one environment what another is: the branch that won becomes the trunk. The winner continues
 * on its own, and a snapshot keeps its state at this moment.
 */
export async function promote(
  engine: Engine,
  from: EnvironmentId | SnapshotId,
  into: EnvironmentId,
  { force = false, strict = false }: RestoreOptions = {},
): Promise<EnvironmentRecord> {
  if (String(from) === into) {
    throw new InvalidInputError('an environment cannot be promoted into itself', {
      remedy: 'name the branch to keep, then the environment that should become it',
    })
  }
  // Checked before the snapshot, which would be useless otherwise.
  requireCapability(engine.backend(engine.store.environments.resolve(into).backend), 'restore')
  const winner = isEnvironmentId(from)
    ? await snapshot(engine, from, { strict, by: 'promote' })
    : engine.store.snapshots.resolve(from)
  await using lease = await hold(engine, into, 'promote')
  return await exchange(engine, lease, into, winner, { kind: 'promote', force, strict })
}
