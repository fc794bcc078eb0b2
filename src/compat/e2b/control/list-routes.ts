import type { FastifyInstance, FastifyReply } from 'fastify'
import * as z from 'zod/mini'
import type { EnvironmentInfo } from '../../../api/contract/data/environment.ts'
import { parsed } from '../bodies.ts'
import type { Visit } from '../host.ts'
import { isOwn, ownLabels } from '../owned.ts'
import type { Control } from './control.ts'
import { listed, metadataOf, stateOf } from './sandbox-json.ts'

const mostRows = 100

/** A whole number in a query. */
const limit = z.pipe(z.coerce.number<string>(), z.int().check(z.minimum(1), z.maximum(mostRows)))

export const pageQuery = { limit: z.optional(limit), nextToken: z.optional(z.string()) }

const word = z.string().check(z.maxLength(16_384))
const words = z.union([word, z.array(word)])

const listQuery = z.object({
  ...pageQuery,
  metadata: z.optional(word),
  state: z.optional(words),
  startedAfter: z.optional(word),
  template: z.optional(word),
  order: z.optional(word),
})

/** `list`, with filters and pages. */
export function addListRoutes(control: Control, app: FastifyInstance): void {
  const config = { operation: 'e2b.list', scope: 'read' } as const
  app.get('/v2/sandboxes', { config }, async (request, reply) => {
    const visit = control.visit(request)
    const query = parsed(listQuery, request.query)
    const rows = await found(visit, query)
    return page(reply, rows, query, ({ id }) => id).map((info) => listed(visit.principal, info))
  })
  // Older clients: everything that runs, in one answer.
  app.get('/sandboxes', { config }, async (request) => {
    const visit = control.visit(request)
    const rows = await found(visit, { ...parsed(listQuery, request.query), state: 'running' })
    return rows.map((info) => listed(visit.principal, info))
  })
}

async function found(
  { forkpoint, principal, signal }: Visit,
  query: z.infer<typeof listQuery>,
): Promise<EnvironmentInfo[]> {
  const { state, template, startedAfter, order } = query
  const states = state === undefined ? null : [state].flat().flatMap((each) => each.split(','))
  const wanted = Object.entries(metadataFilter(query.metadata))
  const after = startedAfter === undefined ? 0 : Date.parse(startedAfter)
  const all = (await forkpoint.list({ signal })).map(({ lastInfo }) => lastInfo)
  const rows = all.filter((info) => {
    if (!isOwn(principal, info) || info.createdAt < after) return false
    if (states !== null && !states.includes(stateOf(info))) return false
    if (template !== undefined && info.labels[ownLabels.template] !== template) return false
    const metadata = metadataOf(principal, info)
    return wanted.every(([key, value]) => metadata[key] === value)
  })
  // Newest first, unless the client says otherwise.
  return order === 'asc' ? rows : rows.toReversed()
}

/** The clients encode each pair twice. */
function metadataFilter(text = ''): Record<string, string> {
  const pairs = [...new URLSearchParams(text)]
  return Object.fromEntries(pairs.map(([key, value]) => [decoded(key), decoded(value)]))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // It was encoded once only, and has a percent sign of its own.
    return text
  }
}

/** One page of rows; the answer's header says where the next one begins. */
export function page<T>(
  reply: FastifyReply,
  rows: readonly T[],
  { limit = mostRows, nextToken }: { limit?: number | undefined; nextToken?: string | undefined },
  idOf: (row: T) => string,
): readonly T[] {
  const start = nextToken === undefined ? 0 : rows.findIndex((row) => idOf(row) === nextToken)
  const shown = start < 0 ? [] : rows.slice(start, start + limit)
  const next = start < 0 ? undefined : rows[start + limit]
  if (next !== undefined) reply.header('x-next-token', idOf(next))
  return shown
}
