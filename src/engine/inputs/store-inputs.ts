import type { Flags } from '../../config/layers.ts'
import type { EnvironmentStatus } from '../../model/environment.ts'
import type { SnapshotStatus } from '../../model/snapshot.ts'
import type { ListOptions, OpenOptions } from '../forkpoint.ts'
import type { PruneOptions } from '../operations/prune.ts'
import type { SnapshotFilter } from '../operations/snapshot-record.ts'
import { either, type Input, list, options, value } from './checked.ts'
import { labels } from './maps.ts'
import * as v from './values.ts'

/** Its keys and values are checked with those of files and variables. */
const flags: Input<Flags> = value('an object with settings', (given) =>
  typeof given === 'object' && given !== null && !Array.isArray(given) ? { ...given } : undefined,
)

export const openInput = options<OpenOptions>({
  settings: flags,
  configPath: v.path,
  spares: v.oneOf('prepared', 'borrowed'),
})

const environmentStatus = v.oneOf<EnvironmentStatus>(
  ...(['creating', 'running', 'paused', 'released', 'dead', 'removing'] as const),
)

export const listInput = options<ListOptions>({
  status: either('a status, or a list of them', environmentStatus, list('', environmentStatus)),
  labels,
})

export const filterInput = options<SnapshotFilter>({
  environment: v.word,
  name: v.word,
  status: v.oneOf<SnapshotStatus>('writing', 'ready', 'failed'),
  labels,
})

export const pruneInput = options<PruneOptions>({
  keepLast: v.whole(0),
  keepNamed: v.truth,
  olderThanMs: value('milliseconds, 0 or more', (given) =>
    typeof given === 'number' && given >= 0 && given <= Number.MAX_SAFE_INTEGER ? given : undefined,
  ),
  dryRun: v.truth,
})

export const referencesInput = list('ids or names', v.word)

export const listenInput = options<{ readonly signal?: AbortSignal }>({ signal: v.signal })
