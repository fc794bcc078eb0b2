import { backendTimes } from '../report/backends.ts'
import { type By, type GroupName, samplesOf } from '../results.ts'
import { median } from '../statistics.ts'
import type { Groups, Promised } from './promised.ts'

const group: GroupName = 'backends'

/** Medians of the same code differ between two turns on a machine whose speed drifts; this leaves room for that. */
const asFast = 1.1

/** `native` captures as much as any other backend, or more, so it must be the fastest in every column. */
export const backendPromises: readonly Promised[] = backendTimes.map((what) => ({
  group,
  what: `native, ${what}, against the fastest other backend`,
  unit: 'times',
  promised: { below: asFast },
  measure: (groups) => slowest(groups, what),
}))

/** The worst ratio of all workloads; null if no other backend was measured. */
function slowest({ backends = [] }: Groups, what: string): number | null {
  const here = backends.filter((each) => each.what === what)
  const native: By = 'native backend'
  const ratios = [...new Set(here.map(({ on }) => on))].flatMap((on) => {
    const ours = median(samplesOf(backends, { by: native, what, on }))
    const others = here.filter((each) => each.on === on && each.by !== native)
    const fastest = Math.min(...others.map(({ samples }) => median(samples)))
    return Number.isFinite(fastest) && ours > 0 && fastest > 0 ? [ours / fastest] : []
  })
  return ratios.length === 0 ? null : Math.max(...ratios)
}
