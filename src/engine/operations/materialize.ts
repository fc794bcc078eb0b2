import type { MaterializeSpec } from '../../backends/backend.ts'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Engine } from '../engine.ts'
import { identityOf } from './identity.ts'

/** Makes a new life of an environment from a snapshot. */
export function materialize(
  engine: Engine,
  record: EnvironmentRecord,
  snapshot: SnapshotRecord,
  { replaces, role }: Pick<MaterializeSpec, 'replaces' | 'role'>,
): Promise<Instance> {
  const { id, limits, net } = record
  return engine.backend(record.backend).materialize({
    id,
    limits,
    net,
    snapshot,
    identity: identityOf(record),
    replaces,
    role,
  })
}
