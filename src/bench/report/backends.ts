import type { BackendBy, BackendFacts, Results } from '../results.ts'
import { type Summary, summarise } from './summaries.ts'
import { valueText } from './words.ts'

/** Times that every backend is measured at, in the order of the columns. */
export const backendTimes = [
  'create',
  'exec',
  'snapshot',
  'pause seen inside',
  'restore',
  'fork',
  'first reply',
] as const

export const backendColumns = [...backendTimes, 'bytes of a snapshot', 'memory of a fork'] as const

/** Medians of all backends on one workload. */
export interface BackendTable {
  readonly on: string
  readonly heads: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** One table per workload, one row per backend. One that is missing has its reason instead of numbers. */
export function backendTables(results: Results): BackendTable[] {
  const { backends = [] } = results
  const measured = summarise(results).filter(({ group }) => group === 'backends')
  if (backends.length === 0) return []
  const names = [...new Set(measured.map(({ on }) => on))]
  // Without any measurement there are still the reasons.
  const workloads = names.length > 0 ? names : ['nothing']
  const heads = ['', ...backendColumns, 'captured']
  return workloads.map((on) => {
    const here = measured.filter((each) => each.on === on)
    return { on, heads, rows: backends.map((facts) => rowOf(facts, here)) }
  })
}

function rowOf({ backend, captured, missing }: BackendFacts, measured: readonly Summary[]) {
  if (missing !== null) return [backend, ...backendColumns.map(() => ''), `missing: ${missing}`]
  const by: BackendBy = `${backend} backend`
  const cells = backendColumns.map((what) => {
    const found = measured.find((each) => each.by === by && each.what === what)
    return found === undefined ? 'failed' : valueText(found.unit, found.p50)
  })
  return [backend, ...cells, captured.join(', ')]
}
