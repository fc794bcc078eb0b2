import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Environment } from '../../../api/handles/environment.ts'

/** One call to the agent of a sandbox. */
export interface Call {
  readonly environment: Environment
  readonly request: FastifyRequest
  /** what the client sent, which nobody has checked */
  readonly message: unknown
  readonly signal: AbortSignal
}

export type Unary = (call: Call) => Promise<object>

/** It answers by itself. */
export type StreamCall = (call: Call & { readonly reply: FastifyReply }) => Promise<FastifyReply>
