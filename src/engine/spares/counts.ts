import type { SpareKind } from '../../model/spare.ts'

/** How often a branch was ready when somebody wanted it, since the engine was opened. */
export interface SpareCounts {
  readonly used: Record<SpareKind, number>
  /** made from the snapshot instead */
  readonly missed: Record<SpareKind, number>
}

export function spareCounts(): SpareCounts {
  return { used: { restore: 0, fork: 0 }, missed: { restore: 0, fork: 0 } }
}
