import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'

/** What the clients of a load saw. */
export interface Tally {
  /** of each command that a client waited for */
  readonly execMs: number[]
  /** every failure, in words */
  readonly errors: string[]
  /** times that an environment was snapshotted, forked and restored */
  branched: number
  /** streams that had each byte once */
  whole: number
  /** those that stay until the end */
  readonly environments: EnvironmentId[]
  /** snapshots that were reported as taken */
  readonly snapshots: SnapshotId[]
}

export function newTally(): Tally {
  return { execMs: [], errors: [], branched: 0, whole: 0, environments: [], snapshots: [] }
}
