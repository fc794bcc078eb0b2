import type { Summary } from './summaries.ts'

/** One measurement of this engine next to the same of another. */
export interface Comparison {
  readonly theirs: Summary
  readonly ours: Summary
  /** how many times more we take; null if there is nothing to divide by */
  readonly times: number | null
}

/** Everything that both engines were measured at. */
export function comparisonsOf(summaries: readonly Summary[], by: 'ext4' | 'before'): Comparison[] {
  return summaries.flatMap((theirs) => {
    if (theirs.by !== by) return []
    const ours = summaries.find((each) => each.by === 'forkpoint' && isSame(each, theirs))
    if (ours === undefined) return []
    const times = theirs.p50 === 0 ? null : ours.p50 / theirs.p50
    return [{ theirs, ours, times }]
  })
}

function isSame(one: Summary, other: Summary): boolean {
  return one.group === other.group && one.on === other.on && one.what === other.what
}
