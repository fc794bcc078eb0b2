/** What many measurements of one thing have in common. */
export interface Statistics {
  readonly count: number
  readonly total: number
  readonly mean: number
  readonly median: number
  readonly min: number
  readonly max: number
  readonly p95: number
  readonly unit: 'ms' | 'bytes'
}

/** Of at least one sample. */
export function statisticsOf(samples: readonly number[], unit: Statistics['unit']): Statistics {
  const total = samples.reduce((sum, sample) => sum + sample, 0)
  return {
    count: samples.length,
    total,
    mean: total / samples.length,
    median: median(samples),
    min: Math.min(...samples),
    max: Math.max(...samples),
    p95: percentile(samples, 0.95),
    unit,
  }
}

export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [below, above] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return below === undefined || above === undefined ? Number.NaN : (below + above) / 2
}

/** The smallest sample that at least this part of them does not exceed. */
function percentile(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}
