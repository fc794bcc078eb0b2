import * as z from 'zod/mini'
import { fields, options } from '../inputs/checked.ts'
import * as e from '../inputs/environment-inputs.ts'
import { snapshotId } from '../inputs/ids.ts'
import { json, labelChanges } from '../inputs/maps.ts'
import { prune, snapshotFilter } from '../inputs/store-inputs.ts'
import * as d from './data/data.ts'
import { forked } from './data/environment.ts'
import { compaction, prunePlan, snapshotInfo } from './data/snapshot.ts'
import { making, operation } from './operation.ts'

const id = { id: snapshotId }

export const snapshotOperations = {
  /** by id, unique prefix of an id, or name */
  'snapshot.get': operation('read', fields({ reference: e.reference }, {}), snapshotInfo),
  /** oldest first */
  'snapshot.list': operation('read', options(snapshotFilter), z.array(snapshotInfo)),
  'snapshot.fork': making(
    'environments',
    operation('branch', fields({ ...id, count: e.forkCount }, e.fork), forked),
  ),
  /** null removes a label */
  'snapshot.label': operation('branch', fields({ ...id, labels: labelChanges }, {}), snapshotInfo),
  'snapshot.rename': operation('branch', fields({ ...id, name: e.name }, {}), snapshotInfo),
  /** replaces the caller's own data; null removes it */
  'snapshot.annotate': operation('branch', fields({ ...id, metadata: json }, {}), snapshotInfo),
  /** waits until it can be restored */
  'snapshot.ready': operation('read', fields(id, {}), snapshotInfo),
  /** waits until it is on disk */
  'snapshot.durable': operation('branch', fields(id, {}), snapshotInfo),
  /** makes a copy of it, unless one was made before, so that it is known to restore */
  'snapshot.prove': operation('branch', fields(id, {}), snapshotInfo),
  /** without a reference: every snapshot that an environment continues from */
  'snapshot.compact': operation('branch', options({ reference: e.reference }), z.array(compaction)),
  /** all of these together, or none */
  'snapshot.remove': operation(
    'branch',
    fields({ references: e.references }, e.removal),
    z.array(d.snapshotId),
  ),
  'snapshot.prune': operation('admin', options(prune), prunePlan),
}
