import { median } from '../bench/statistics.ts'

/** Times of the operations of a session, in milliseconds; empty if there were none. */
export interface CostModel {
  readonly snapshotMs: readonly number[]
  readonly restoreMs: readonly number[]
  readonly forkMs: readonly number[]
  /** all snapshots, of either kind */
  readonly snapshots: number
  /** all restores and forks, of either kind */
  readonly returns: number
}

/** Older measurements say little about an environment that has grown. */
const remembered = 20

/**
 * What a snapshot costs now, plus what returning to it costs, as often as this session returns to its
 * snapshots. A virtual one costs nothing now; returning to it forks its physical ancestor, replays,
 * takes a snapshot and restores that.
 */
export function cheaperKind(measured: CostModel, replayMs: number): 'physical' | 'virtual' {
  const snapshotMs = typical(measured.snapshotMs)
  // Nothing is known before the first physical one, which also gives the replay something to begin at.
  if (snapshotMs === undefined) return 'physical'
  const restoreMs = typical(measured.restoreMs) ?? snapshotMs
  const forkMs = typical(measured.forkMs) ?? restoreMs
  const returns = expectedReturns(measured)
  const physical = snapshotMs + returns * restoreMs
  const virtual = returns * (forkMs + replayMs + snapshotMs + restoreMs)
  return physical <= virtual ? 'physical' : 'virtual'
}

/** How often one snapshot is returned to. Before there are facts, once. */
export function expectedReturns({ returns, snapshots }: CostModel): number {
  return (returns + 1) / (snapshots + 1)
}

function typical(samples: readonly number[]): number | undefined {
  return samples.length === 0 ? undefined : median(samples.slice(-remembered))
}
