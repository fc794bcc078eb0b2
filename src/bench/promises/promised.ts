import type { Bound, GroupName, PromiseResult, Results, Series } from '../results.ts'
import { samplesOf } from '../results.ts'
import { median } from '../statistics.ts'

export type Groups = Results['groups']

/** A promise, and how to find out whether a run kept it. */
export interface Promised {
  readonly group: GroupName
  readonly what: string
  readonly unit: PromiseResult['unit']
  readonly promised: Bound
  readonly measure: (groups: Groups) => number | null
}

export const shell = 'idle shell'
export const session = 'Python 512 MB'

/** The median of Forkpoint's own samples; null if there are none. */
export function typical(
  series: readonly Series[] | undefined,
  on: string,
  what: string,
  at?: number,
): number | null {
  const value = median(samplesOf(series, { by: 'forkpoint', what, on, at }))
  return Number.isNaN(value) ? null : value
}
