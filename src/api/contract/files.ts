import * as z from 'zod/mini'
import { fields } from '../inputs/checked.ts'
import * as e from '../inputs/environment-inputs.ts'
import { eitherId, environmentId } from '../inputs/ids.ts'
import { applicableChanges, contentDigests, filesDiff, insideEntry } from './data/files.ts'
import { operation, type StreamOperation } from './operation.ts'

const id = { of: environmentId }

export const fileOperations = {
  /** how files differ between `of` and `to`; without `to`, since the snapshot before `of` */
  'files.diff': operation('read', fields({ of: eitherId }, { ...e.diff, to: eitherId }), filesDiff),
  /** everything that changed below a directory, or the working directory, since the environment was made */
  'files.changes': operation('read', fields(id, { path: e.insidePath }), applicableChanges),
  /** these paths, and everything below them */
  'files.entries': operation(
    'read',
    fields({ of: eitherId, paths: e.manyPaths }, {}),
    z.array(insideEntry),
  ),
  /** digests that show whether a directory elsewhere has one side of the changes */
  'files.digests': operation(
    'read',
    fields({ ...id, before: e.manyPaths, after: e.manyPaths }, {}),
    contentDigests,
  ),
}

const archiveInput = fields(
  { of: eitherId },
  {
    /** these keep their whole path in the archive; without any, it holds the working directory */
    paths: e.manyPaths,
    /** a directory that it holds instead */
    path: e.insidePath,
  },
)

/** Operations whose output is a stream of bytes. */
export const streams = {
  /** files as a tar archive, which ends with a report */
  'files.archive': { scope: 'read', input: archiveInput },
} as const satisfies Record<string, StreamOperation>
