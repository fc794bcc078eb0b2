/** The smallest value that at least this fraction of the samples does not exceed. */
export function percentile(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}

export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [below, above] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return below === undefined || above === undefined ? Number.NaN : (below + above) / 2
}

/** How many times larger one is than the other; null if either was not measured. */
export function ratio(large: readonly number[], small: readonly number[]): number | null {
  const times = median(large) / median(small)
  return Number.isFinite(times) ? times : null
}
