import { filledPath, pathFields, type Route } from '../../api/contract/routes.ts'
import { isSnapshotId } from '../../model/ids.ts'

/** One request, as often as it has to be sent. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** The request of an operation: some fields of its input are in the path, the others beside it. */
export function requestFor(route: Route, input: object): Pick<Sent, 'method' | 'path' | 'body'> {
  const values = new Map<string, unknown>(Object.entries(input))
  const template = pathFor(route, values)
  const path = filledPath(template, (field) => values.get(field))
  for (const field of pathFields(template)) values.delete(field)
  const { method } = route
  if (method === 'POST') return { method, path, body: JSON.stringify(Object.fromEntries(values)) }
  return { method, path: withQuery(path, Object.fromEntries(values)) }
}

/** A path with those values that are given. */
export function withQuery(path: string, values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined)
      query.set(key, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}

/** The second path is that of snapshots. */
function pathFor({ paths: [first, second] }: Route, values: ReadonlyMap<string, unknown>): string {
  return second !== undefined && isSnapshotId(values.get('of')) ? second : first
}
