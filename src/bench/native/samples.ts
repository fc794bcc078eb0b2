/** Measured times by what was measured, in milliseconds. */
export type Samples = Map<string, number[]>

export function add(samples: Samples, what: string, ms: number): void {
  samples.set(what, [...(samples.get(what) ?? []), ms])
}

export async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const began = performance.now()
  const result = await work()
  return { ms: performance.now() - began, result }
}

export function percentile(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5)
