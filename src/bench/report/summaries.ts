import { chainEnd } from '../plan.ts'
import { type By, type GroupName, groupNames, type Results, type Series } from '../results.ts'
import { median, percentile } from '../statistics.ts'

/** One line of a table. */
export interface Summary {
  readonly group: GroupName
  readonly on: string
  readonly what: string
  readonly by: By
  readonly unit: Series['unit']
  readonly p50: number
  readonly p95: number
  readonly count: number
}

const unitsOfAt: Partial<Record<GroupName, string>> = { size: 'MB', fanout: 'forks' }

/** A chain has hundreds of depths; only its two ends are shown. */
export function summarise({ groups }: Pick<Results, 'groups'>): Summary[] {
  return groupNames.flatMap((group) => {
    const series = groups[group] ?? []
    const shown = group === 'chain' ? endsOf(series) : series.map((each) => named(group, each))
    return shown.map((each) => summaryOf(group, each))
  })
}

function summaryOf(group: GroupName, { on, what, by, unit, samples }: Series): Summary {
  const [p50, p95] = [median(samples), percentile(samples, 0.95)]
  return { group, on, what, by, unit, p50, p95, count: samples.length }
}

function named(group: GroupName, series: Series): Series {
  const unit = unitsOfAt[group]
  if (series.at === undefined || unit === undefined) return series
  return { ...series, what: `${series.what}, ${series.at} ${series.at === 1 ? 'fork' : unit}` }
}

function endsOf(chain: readonly Series[]): Series[] {
  return [...new Set(chain.map(({ what }) => what))].flatMap((what) => {
    const all = chain.filter((series) => series.what === what)
    return [
      together(`${what}, first ${chainEnd}`, all.slice(0, chainEnd)),
      together(`${what}, last ${chainEnd}`, all.slice(-chainEnd)),
    ]
  })
}

function together(what: string, all: readonly Series[]): Series {
  const [{ by, on, unit } = { by: 'forkpoint', on: '', unit: 'ms' } as const] = all
  return { by, on, unit, what, samples: all.flatMap(({ samples }) => samples) }
}
