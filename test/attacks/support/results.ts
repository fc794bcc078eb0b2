import { allRuns, nameOf } from './states.ts'

/** The result of one attack in one pass. */
export type Outcome = 'refused' | 'succeeded' | 'broken'

export interface Result {
  readonly outcome: Outcome
  /** what the kernel said, or what was seen outside */
  readonly detail: string
}

export type Results = ReadonlyMap<string, Result>

/**
 * Lines of the program: an attack's own result, or for `tried` that of the watcher, `kept` or
 * `changed`. If nobody watched, it counts as broken.
 */
export function readResults(attackLines: readonly string[], seenLines: readonly string[]): Results {
  const seen = new Map(seenLines.map((line) => [fieldsOf(line)[0], line]))
  return new Map(
    attackLines.map((line) => {
      const [name, outcome, detail] = fieldsOf(line)
      return [name, outcome === 'tried' ? readSeen(seen.get(name), detail) : { outcome, detail }]
    }) as [string, Result][],
  )
}

/** The runs in which an attack was not refused, and the result. */
export function through(name: string, byRun: ReadonlyMap<string, Results>): string[] {
  return allRuns
    .map((run) => ({ run: nameOf(run), result: byRun.get(nameOf(run))?.get(name) }))
    .filter(({ result }) => result?.outcome !== 'refused')
    .map(({ run, result }) => `${run}: ${result?.outcome ?? 'not tried'}: ${result?.detail ?? ''}`)
}

/** In how many runs an attack was made and refused. */
export function refusals(name: string, byRun: ReadonlyMap<string, Results>): number {
  const results = allRuns.map((run) => byRun.get(nameOf(run))?.get(name))
  return results.filter((result) => result?.outcome === 'refused').length
}

function readSeen(line: string | undefined, tried: string): Result {
  if (line === undefined) return { outcome: 'broken', detail: `${tried}; nobody watched` }
  const [, state, detail] = fieldsOf(line)
  return {
    outcome: state === 'changed' ? 'succeeded' : 'refused',
    detail: `${tried}; outside: ${detail || state}`,
  }
}

function fieldsOf(line: string): [string, string, string] {
  const [name = '', state = '', detail = ''] = line.split('\t')
  return [name, state, detail]
}
