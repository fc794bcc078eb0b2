import * as z from 'zod/mini'
import { fields, options } from '../inputs/checked.ts'
import * as e from '../inputs/environment-inputs.ts'
import { pruneImages } from '../inputs/store-inputs.ts'
import * as d from './data/data.ts'
import { environmentInfo } from './data/environment.ts'
import { snapshotInfo } from './data/snapshot.ts'
import { cachedImage, failureLog, flatNode, runningOperation, spare, usage } from './data/store.ts'
import { operation } from './operation.ts'

export const storeOperations = {
  /** the environment or snapshot with this id or name */
  find: operation(
    'read',
    fields({ reference: e.reference }, {}),
    z.discriminatedUnion('kind', [environmentInfo, snapshotInfo]),
  ),
  /** all snapshots and environments as one forest, each before its children */
  tree: operation('read', options({ around: e.reference }), z.array(flatNode)),
  usage: operation('read', options({}), usage),
  /** removes the container images that nothing uses, and reports them */
  'images.prune': operation('admin', options(pruneImages), z.array(cachedImage)),
  /** what went wrong in the background since the engine was opened */
  warnings: operation('read', options({}), z.array(d.errorData)),
  /** those that have not ended, of every process, oldest first */
  operations: operation('read', options({}), z.array(runningOperation)),
  /** the last ones, newest first */
  failureLogs: operation('read', options({}), z.array(failureLog)),
  spares: operation('read', options({}), z.array(spare)),
  /** waits until no more branches are being prepared */
  'spares.settled': operation('read', options({}), z.null()),
}
