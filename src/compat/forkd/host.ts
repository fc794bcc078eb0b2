import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ForkpointHandle } from '../../api/handles/forkpoint.ts'
import type { Log } from '../../model/log.ts'

/** One request, and the handles that its token may use. */
export interface Visit {
  readonly forkpoint: ForkpointHandle
  /** aborts when the client hangs up */
  readonly signal: AbortSignal
}

/** What the daemon gives this wire. */
export interface ForkdHost {
  readonly log: Log
  /** Throws a PermissionError if nobody has this token. */
  enter(request: FastifyRequest, reply: FastifyReply, token: string): Visit
}

/** The visit that `enter` has made of a request. */
export function visitOf({ session }: FastifyRequest): Visit {
  return session
}
