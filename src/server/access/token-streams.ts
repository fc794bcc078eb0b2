import type { FastifyReply, FastifyRequest } from 'fastify'
import { PermissionError } from '../../model/errors.ts'
import type { Service } from '../service.ts'

/** Requests that are open, by the token that they came with. */
export interface TokenStreams extends Disposable {
  add(token: string, request: FastifyRequest, reply: FastifyReply): void
  /** The same for what was derived from the token with this id. */
  addById(id: string, request: FastifyRequest, reply: FastifyReply): void
  /** Cuts what is open for tokens that are not valid any more. */
  look(): void
}

/** Other processes change tokens, too, and tokens expire; so the store is asked now and then. */
const lookEveryMs = 1000

/** Cuts WebSockets and answers that are being sent once their token is removed, rotated or expired. */
export function tokenStreams({ principalOf, principalById }: Principals): TokenStreams {
  const byToken = new Map<string, Set<OpenRequest>>()
  const byId = new Map<string, Set<OpenRequest>>()
  const look = () => {
    for (const [token, requests] of byToken) if (!isValid(principalOf, token)) cut(requests)
    for (const [id, requests] of byId) if (!isValid(principalById, id)) cut(requests)
  }
  const timer = setInterval(look, lookEveryMs).unref()
  return {
    add: (token, request, reply) => addTo(byToken, token, { request, reply }),
    addById: (id, request, reply) => addTo(byId, id, { request, reply }),
    look,
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

type Principals = Pick<Service, 'principalOf' | 'principalById'>

function addTo(open: Map<string, Set<OpenRequest>>, key: string, one: OpenRequest): void {
  const requests = open.get(key) ?? new Set()
  open.set(key, requests)
  requests.add(one)
  const ended = one.request.ws ? one.request.raw.socket : one.reply.raw
  ended.once('close', () => {
    requests.delete(one)
    if (requests.size === 0 && open.get(key) === requests) open.delete(key)
  })
}

interface OpenRequest {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** A request without an answer so far was allowed when it came, and may be what changed the token. */
function cut(requests: ReadonlySet<OpenRequest>): void {
  for (const { request, reply } of requests) {
    if (request.ws || reply.raw.headersSent) request.raw.socket.destroy()
  }
}

function isValid(principalOf: Service['principalOf'], shown: string): boolean {
  try {
    principalOf(shown)
    return true
  } catch (error) {
    // A store that cannot be read says nothing about the token.
    return !(error instanceof PermissionError)
  }
}
