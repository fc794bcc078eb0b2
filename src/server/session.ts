import type { Control } from '../api/control.ts'
import type { ForkpointHandle } from '../api/handles/forkpoint.ts'
import type { Scope } from '../model/values/scopes.ts'
import type { Principal } from './access/principal.ts'

/** One request, and what its principal may use. */
export interface Session {
  readonly principal: Principal
  readonly control: Control
  /** handles over `control`, shared by the requests of a principal */
  readonly forkpoint: ForkpointHandle
  /**
   * handles that wake nothing, for what may only be looked at. They reach everything: find what a request names
   * through `forkpoint` first.
   */
  readonly watching: ForkpointHandle
  /** aborts when the client cancels the request, or hangs up without having given a key for a retry */
  readonly signal: AbortSignal
  /** of this principal; undefined if the client sent none */
  readonly idempotencyKey: string | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    session: Session
  }
  interface FastifyContextConfig {
    /** the name in the audit log and in metrics */
    operation?: string
    /** absent: everybody may, without a token */
    scope?: Scope
  }
}
