import type { FastifyReply, FastifyRequest } from 'fastify'
import { PermissionError } from '../../model/errors.ts'
import type { Service } from '../service.ts'

/** Requests that are open, by the token that they came with. */
export interface TokenStreams extends Disposable {
  add(token: string, request: FastifyRequest, reply: FastifyReply): void
  /** Cuts what is open for tokens that are not valid any more. */
  look(): void
}

/** Other processes change tokens, too, and tokens expire; so the store is asked now and then. */
const lookEveryMs = 1000

/** Cuts WebSockets and answers that are being sent once their token is removed, rotated or expired. */
export function tokenStreams({ principalOf }: Pick<Service, 'principalOf'>): TokenStreams {
  const open = new Map<string, Set<OpenRequest>>()
  const look = () => {
    for (const [token, requests] of open) if (!isValid(principalOf, token)) cut(requests)
  }
  const timer = setInterval(look, lookEveryMs).unref()
  return {
    add: (token, request, reply) => {
      const requests = open.get(token) ?? new Set()
      open.set(token, requests)
      const one = { request, reply }
      requests.add(one)
      const ended = request.ws ? request.raw.socket : reply.raw
      ended.once('close', () => {
        requests.delete(one)
        if (requests.size === 0 && open.get(token) === requests) open.delete(token)
      })
    },
    look,
    [Symbol.dispose]: () => clearInterval(timer),
  }
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

function isValid(principalOf: Service['principalOf'], token: string): boolean {
  try {
    principalOf(token)
    return true
  } catch (error) {
    // A store that cannot be read says nothing about the token.
    return !(error instanceof PermissionError)
  }
}
