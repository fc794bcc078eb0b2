import { formatDuration } from '../../model/values/quantities.ts'
import { backendColumns } from '../report/backends.ts'
import { titles } from '../report/words.ts'
import type { Series } from '../results.ts'
import { median } from '../statistics.ts'
import { type BarGroup, drawBars } from './bars.ts'
import type { Plot } from './plots.ts'

/** One plot per workload: the times of all backends, operation by operation. */
export function backendPlots(series: readonly Series[]): Plot[] {
  const workloads = [...new Set(series.map(({ on }) => on))]
  return workloads.map((on) => {
    const here = series.filter((each) => each.on === on && each.unit === 'ms')
    const groups = backendColumns.flatMap((what): BarGroup[] => {
      const bars = here
        .filter((each) => each.what === what)
        .map(({ by, samples }) => ({ name: titles[by], value: median(samples) }))
        .map((bar) => ({ ...bar, label: formatDuration(bar.value) }))
      return bars.length === 0 ? [] : [{ title: what, bars }]
    })
    const name = `backends-${on.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`
    return { name, svg: drawBars(`Backends, ${on}`, 'ms, logarithmic', groups) }
  })
}
