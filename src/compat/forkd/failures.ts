import type { FastifyError } from 'fastify'
import { ForkpointError, PermissionError } from '../../model/errors.ts'

const statuses = new Map<string, number>([
  ['invalid_input', 400],
  ['permission', 403],
  ['not_found', 404],
  ['conflict', 409],
  ['unsupported', 422],
  ['prerequisite', 503],
  ['timeout', 504],
  ['resource', 507],
])

/** Nobody could tell who asks. */
export class Unauthenticated extends PermissionError {}

export interface Failure {
  readonly status: number
  readonly body: { readonly error: string }
}

/** As this wire answers failures: a status, and one sentence. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Unauthenticated) return failure(401, error)
  if (error instanceof ForkpointError) return failure(statuses.get(error.code) ?? 500, error)
  const { statusCode = 500, message } = error as Partial<FastifyError>
  // What fastify itself refuses: too long, malformed.
  if (statusCode >= 400 && statusCode < 500) {
    return { status: statusCode, body: { error: message ?? 'the request is not acceptable' } }
  }
  // Nobody outside learns more about a bug; the log has it.
  return { status: 500, body: { error: 'the daemon failed in an unexpected way; see its log' } }
}

function failure(status: number, { message, remedy }: ForkpointError): Failure {
  return { status, body: { error: remedy === undefined ? message : `${message}: ${remedy}` } }
}
