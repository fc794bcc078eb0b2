import type { InsideEntry } from '../../model/files/file-change.ts'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import type { Engine } from '../engine.ts'
import { findReferent } from '../reference.ts'
import { sideOf } from './compare.ts'

export interface EntriesRequest {
  readonly of: EnvironmentId | SnapshotId
  readonly paths: readonly string[]
}

/** These paths inside, and everything below them. */
export async function entriesOf(
  engine: Engine,
  { of, paths }: EntriesRequest,
): Promise<InsideEntry[]> {
  const { files, view } = sideOf(engine, findReferent(engine.store, of))
  return await files.entries(view, paths)
}
