import * as z from 'zod/mini'
import { fields, options } from '../inputs/checked.ts'
import * as e from '../inputs/environment-inputs.ts'
import { eitherId, environmentId } from '../inputs/ids.ts'
import { labelChanges } from '../inputs/maps.ts'
import { environmentFilter } from '../inputs/store-inputs.ts'
import {
  endedCommand,
  environmentInfo,
  forked,
  instanceStats,
  logEntry,
  netChange,
} from './data/environment.ts'
import { snapshotInfo } from './data/snapshot.ts'
import { making, operation } from './operation.ts'

const id = { id: environmentId }

export const environmentOperations = {
  'environment.create': making(
    'environments',
    operation('branch', options(e.create), environmentInfo),
  ),
  'environment.attach': making(
    'environments',
    operation('admin', fields({ target: e.attachTarget }, e.attach), environmentInfo),
  ),
  /** by id, unique prefix of an id, or name */
  'environment.get': operation('read', fields({ reference: e.reference }, {}), environmentInfo),
  /** oldest first */
  'environment.list': operation('read', options(environmentFilter), z.array(environmentInfo)),
  'environment.stats': operation('read', fields(id, {}), instanceStats),
  /** its operations, oldest first; also of one that was removed */
  'environment.log': operation('read', fields({ reference: e.reference }, {}), z.array(logEntry)),
  /** the last commands that have ended inside, oldest first; also of one that was removed */
  'environment.commandLog': operation(
    'read',
    fields({ reference: e.reference }, {}),
    z.array(endedCommand),
  ),
  'environment.pause': operation('branch', fields(id, e.pause), environmentInfo),
  'environment.resume': operation('branch', fields(id, {}), environmentInfo),
  /** brings one back that sleeps, if it may be woken, because somebody wants to use it */
  'environment.wake': operation('exec', fields(id, {}), environmentInfo),
  /** changes what is given; null takes a policy away */
  'environment.policy': operation('branch', fields(id, e.policy), environmentInfo),
  /** cuts its connections to the outside; programs continue */
  'environment.net': operation('branch', fields({ ...id, mode: e.netMode }, e.net), netChange),
  'environment.snapshot': making(
    'snapshot',
    operation('branch', fields(id, e.snapshot), snapshotInfo),
  ),
  'environment.restore': operation(
    'branch',
    fields({ ...id, to: e.reference }, e.restoring),
    environmentInfo,
  ),
  'environment.fork': making(
    'environments',
    operation('branch', fields({ ...id, count: e.forkCount }, e.liveFork), forked),
  ),
  'environment.promote': operation(
    'branch',
    fields({ ...id, from: eitherId }, e.restoring),
    environmentInfo,
  ),
  /** keeps what a directory of the caller was like when it was copied in, so that changes can be applied to it */
  'environment.noteCopy': operation(
    'exec',
    fields({ ...id, path: e.insidePath, note: e.copyNote }, {}),
    environmentInfo,
  ),
  /** the note of one of its copies, as it was given */
  'environment.copyNote': operation('read', fields({ ...id, copy: e.reference }, {}), z.string()),
  'environment.rename': operation('branch', fields({ ...id, name: e.name }, {}), environmentInfo),
  /** null removes a label */
  'environment.label': operation(
    'branch',
    fields({ ...id, labels: labelChanges }, {}),
    environmentInfo,
  ),
  'environment.remove': operation('branch', fields(id, e.ending), z.null()),
}
