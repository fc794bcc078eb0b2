import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ForkpointHandle } from '../../api/handles/forkpoint.ts'
import type { Log } from '../../model/log.ts'
import type { Scope } from '../../model/values/scopes.ts'

/** Whose key a request carries. */
export interface KeyHolder {
  readonly id: string
  readonly name: string | null
  readonly scope: Scope
  /** it only reaches what carries all of these */
  readonly labels: Readonly<Record<string, string>>
}

/** One request, and the handles that its key may use. */
export interface Visit {
  readonly principal: KeyHolder
  readonly forkpoint: ForkpointHandle
  /** aborts when the client hangs up */
  readonly signal: AbortSignal
}

/** What the daemon gives this wire. */
export interface E2bHost {
  readonly log: Log
  /** Throws a PermissionError if nobody has this key. What it returns is also the session of the request. */
  enter(request: FastifyRequest, reply: FastifyReply, key: string): Visit
  /** The same by the id of a key, for access tokens of sandboxes. */
  enterAs(request: FastifyRequest, reply: FastifyReply, id: string): Visit
  principalIds(): readonly string[]
  /** Handles without walls, for the templates that the configuration offers to everybody. */
  onBehalfOf(principal: KeyHolder): ForkpointHandle
  /** Routes to ports inside, at /v1/environments/ID/ports/PORT. */
  addPorts(app: FastifyInstance): void
}

export interface E2bOptions {
  /** access tokens of sandboxes are derived from it, so that they outlive the daemon */
  readonly secret: Buffer
  /** what the names of templates mean: a source such as `image:debian`, or `snapshot:NAME` */
  readonly templates: Readonly<Record<string, string>>
  /** `getHost` answers PORT-ID.DOMAIN; absent: `localhost` with the port that was asked */
  readonly domain?: string | undefined
}
