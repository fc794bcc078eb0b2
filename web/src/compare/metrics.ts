/** One number of one environment, by its name. */
export type Metrics = ReadonlyMap<string, number>

const scoreName = /^score/i

/** The numbers in labels and in the metadata of the last snapshot. What metadata says goes first. */
export function metricsOf(labels: Readonly<Record<string, string>>, metadata: unknown): Metrics {
  const found = new Map<string, number>()
  for (const [key, value] of Object.entries(labels)) add(found, key, value)
  if (isRecord(metadata))
    for (const [key, value] of Object.entries(metadata)) add(found, key, value)
  return found
}

function add(found: Map<string, number>, key: string, value: unknown): void {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number === 'number' && Number.isFinite(number)) found.set(key, number)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The names of all metrics: scores first, then the others, each by the alphabet. */
export function metricNames(all: readonly Metrics[]): string[] {
  const names = [...new Set(all.flatMap((each) => [...each.keys()]))]
  const rank = (name: string) => (scoreName.test(name) ? 0 : 1)
  return names.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b))
}

/** The index of the best score: the highest of the first metric that is a score; null if nobody has one. */
export function bestOf(all: readonly Metrics[]): number | null {
  const name = metricNames(all).find((each) => scoreName.test(each))
  if (name === undefined) return null
  const scores = all.map((each) => each.get(name) ?? Number.NEGATIVE_INFINITY)
  return scores.indexOf(Math.max(...scores))
}
