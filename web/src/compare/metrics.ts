/** One number of one environment, by its name. */
export type Metrics = ReadonlyMap<string, number>

const scoreName = /^score/i

/** What is said about an environment, and the metadata of the snapshot that it continues from. */
export interface Described {
  readonly labels: Readonly<Record<string, string>>
  readonly metadata: unknown
  /** whether that snapshot is its own; otherwise it says what the branch began with */
  readonly isOwn: boolean
}

/** The numbers in labels and metadata. What metadata of its own says goes first, and what it began with last. */
export function metricsOf({ labels, metadata, isOwn }: Described): Metrics {
  const said = isRecord(metadata) ? metadata : {}
  const found = new Map<string, number>()
  for (const source of isOwn ? [labels, said] : [said, labels])
    for (const [key, value] of Object.entries(source)) add(found, key, value)
  return found
}

/** How deep numbers are looked for, and how many metrics a table can show. */
const deepest = 3
const mostNames = 60

/** `{ tests: { passed: 40 } }` is the metric `tests.passed`. */
function add(found: Map<string, number>, key: string, value: unknown, depth = 1): void {
  if (isRecord(value) && depth < deepest) {
    for (const [inner, each] of Object.entries(value))
      add(found, `${key}.${inner}`, each, depth + 1)
    return
  }
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
  return names.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b)).slice(0, mostNames)
}

/** The index of the best score: the highest of the first metric that is a score; null if nobody has one. */
export function bestOf(all: readonly Metrics[]): number | null {
  const name = metricNames(all).find((each) => scoreName.test(each))
  if (name === undefined) return null
  const scores = all.map((each) => each.get(name) ?? Number.NEGATIVE_INFINITY)
  return scores.indexOf(Math.max(...scores))
}
