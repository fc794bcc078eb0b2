import { titles } from '../report/words.ts'
import type { By, Results, Series } from '../results.ts'
import { median } from '../statistics.ts'
import { backendPlots } from './backend-bars.ts'
import { type Chart, drawChart } from './chart.ts'

export interface Plot {
  /** of the file, without its extension */
  readonly name: string
  readonly svg: string
}

type Line = Chart['lines'][number]

const mib = 2 ** 20

/** One plot for every group that has one and was measured. */
export function plotsOf({ groups }: Pick<Results, 'groups'>): Plot[] {
  const { size = [], fanout = [], chain = [], backends = [] } = groups
  const charts: [name: string, chart: Chart][] = [
    ['latency-by-memory', latencyByMemory(size)],
    ['latency-by-depth', latencyByDepth(chain)],
    ['latency-by-forks', latencyByForks(fanout)],
    ['memory-by-forks', memoryByForks(fanout)],
  ]
  const drawn = charts
    .filter(([, { lines }]) => lines.length > 0)
    .map(([name, chart]) => ({ name, svg: drawChart(chart) }))
  return [...drawn, ...backendPlots(backends)]
}

function latencyByMemory(size: readonly Series[]): Chart {
  const steps: [By, string, string][] = [
    ['forkpoint', 'fork', 'Forkpoint fork'],
    ['forkpoint', 'restore', 'Forkpoint restore'],
    ['criu', 'snapshot', `${titles.criu} dump`],
    ['criu', 'restore', `${titles.criu} restore`],
  ]
  return {
    title: 'Latency against memory held by the session',
    x: { label: 'memory held (MB)', kind: 'log', ticks: ticksOf(size) },
    y: { label: 'time (ms)', kind: 'log' },
    lines: steps.flatMap(([by, what, name]) =>
      lineOf(size, name, (s) => s.by === by && s.what === what),
    ),
  }
}

function latencyByDepth(chain: readonly Series[]): Chart {
  const scattered = lineOf(chain, 'snapshot', ({ what }) => what === 'snapshot')
  return {
    title: 'Latency against depth of the chain of snapshots',
    x: { label: 'snapshots before', kind: 'linear' },
    y: { label: 'time (ms)', kind: 'linear' },
    lines: [
      ...scattered.map((line): Line => ({ ...line, shape: 'dots' })),
      ...lineOf(chain, 'restore', ({ what }) => what === 'restore'),
    ],
  }
}

function latencyByForks(fanout: readonly Series[]): Chart {
  return {
    title: 'Latency against number of forks made at once',
    x: { label: 'forks', kind: 'log', ticks: ticksOf(fanout) },
    y: { label: 'time (ms)', kind: 'log' },
    lines: [
      ...lineOf(fanout, 'all of them', ({ what }) => what === 'fork, all'),
      ...lineOf(fanout, 'per copy', ({ what }) => what === 'fork, per copy'),
    ],
  }
}

/** Per fork: sums are divided by the number of forks. */
function memoryByForks(fanout: readonly Series[]): Chart {
  const each = ({ points, ...line }: Line): Line => ({
    ...line,
    points: points.map(([forks, bytes]) => [forks, bytes / forks / mib]),
  })
  return {
    title: 'Memory per fork',
    x: { label: 'forks', kind: 'log', ticks: ticksOf(fanout) },
    y: { label: 'memory per fork (MiB)', kind: 'linear' },
    lines: [
      ...lineOf(fanout, 'private to its processes', ({ what }) => what === 'private memory'),
      ...lineOf(fanout, 'charged to their cgroups', ({ what }) => what === 'memory charged'),
    ].map(each),
  }
}

function lineOf(
  series: readonly Series[],
  name: string,
  belongs: (series: Series) => boolean,
): Line[] {
  const points = series
    .filter(belongs)
    .flatMap(({ at, samples }) => (at === undefined ? [] : [[at, median(samples)] as const]))
    .toSorted(([a], [b]) => a - b)
  return points.length === 0 ? [] : [{ name, points }]
}

function ticksOf(series: readonly Series[]): number[] {
  return [...new Set(series.flatMap(({ at }) => at ?? []))].toSorted((a, b) => a - b)
}
