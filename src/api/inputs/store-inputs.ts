import { environmentStatuses } from '../../model/environment.ts'
import { snapshotStatuses } from '../../model/snapshot.ts'
import { statusList } from './environment-inputs.ts'
import { labels } from './maps.ts'
import * as v from './values.ts'

/** Which environments to list. */
export const environmentFilter = {
  status: statusList(v.oneOf(...environmentStatuses)),
  /** labels that must all be present with these values */
  labels,
}

/** Which snapshots to list. */
export const snapshotFilter = {
  /** those of this environment, given by id, prefix of an id, or name */
  environment: v.word,
  name: v.word,
  status: v.oneOf(...snapshotStatuses),
  /** labels that must all be present with these values */
  labels,
}

/** The rules of `prune`. It removes what no rule keeps and nothing needs. */
export const prune = {
  /** only considers those with all of these labels; the others stay */
  labels,
  /** keeps this many of the newest snapshots of each environment */
  keepLast: v.whole(0),
  /** keeps those that have a name */
  keepNamed: v.truth,
  /** keeps those that are younger than this */
  olderThanMs: v.number(
    'milliseconds, 0 or more',
    (given) => given >= 0 && given <= Number.MAX_SAFE_INTEGER,
  ),
  /** only reports what it would remove */
  dryRun: v.truth,
}

/** The options of `prune` for container images. */
export const pruneImages = {
  /** only reports what it would remove */
  dryRun: v.truth,
}
