import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ForkpointHandle } from '../../api/handles/forkpoint.ts'
import type { Log } from '../../model/log.ts'
import type { Principal } from '../access/principal.ts'
import type { TcpAddress } from '../listen/tcp-address.ts'
import type { Session } from '../session.ts'

/** The routes of another system on an address of its own, with the tokens of this daemon. */
export interface Wire {
  readonly listen: TcpAddress
  /** where a request really goes, before routes are looked up */
  rewriteUrl?(url: string, headers: IncomingHttpHeaders): string
  add(app: FastifyInstance, access: WireAccess): void | Promise<void>
}

/** How a wire finds out who asks, and gets the handles that they may use. */
export interface WireAccess {
  readonly log: Log
  /** Throws a PermissionError if nobody has this token. The request ends when the token does. */
  enter(request: FastifyRequest, reply: FastifyReply, token: string): Session
  /** The same by the id of a token, for what the wire itself derived from it. */
  enterAs(request: FastifyRequest, reply: FastifyReply, id: string): Session
  principalIds(): readonly string[]
  /**
   * Handles that reach everything, on behalf of a principal. Only for what the configuration grants to
   * everybody: the wire has to check scopes and set labels itself.
   */
  onBehalfOf(principal: Principal): ForkpointHandle
  /** Routes to ports inside, at /v1/environments/ID/ports/PORT. */
  addPorts(app: FastifyInstance): void
}
