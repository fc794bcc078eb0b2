import type { FastifyError } from 'fastify'
import {
  ConflictError,
  type ErrorJson,
  ForkpointError,
  InvalidInputError,
  toJson,
} from '../model/errors.ts'

const statuses = new Map<string, number>([
  ['invalid_input', 400],
  ['permission', 403],
  ['not_found', 404],
  ['conflict', 409],
  ['unsupported', 422],
  ['backend_failed', 500],
  ['connection', 502],
  ['prerequisite', 503],
  ['timeout', 504],
  ['resource', 507],
])

/** A failure that names its own status. */
export class StatusError extends ForkpointError {
  readonly status: number
  constructor(status: number, error: ForkpointError) {
    super('internal', error.message, { remedy: error.remedy, detail: error.detail, cause: error })
    this.status = status
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly error: ErrorJson & { readonly requestId: string } }
}

/** The status and the body of a failed request. */
export function answerOf(error: unknown, requestId: string): Answer {
  const known = fromFastify(error)
  const shown = known instanceof StatusError ? known.cause : known
  const json = shown instanceof ForkpointError ? toJson(shown) : internal
  const refused = refusedFor(json)
  const usual = refused?.status ?? statuses.get(json.code) ?? 500
  const status = known instanceof StatusError ? known.status : usual
  const headers = refused === null ? {} : { 'retry-after': refused.afterSeconds }
  return { status, headers, body: { error: { ...json, requestId } } }
}

/** What admission refuses can be tried again later; null if it was not that. */
function refusedFor({ detail }: ErrorJson): { status: number; afterSeconds: string } | null {
  const { scarce, retryAfterMs } = detail ?? {}
  if (typeof retryAfterMs !== 'number') return null
  const afterSeconds = String(Math.max(1, Math.ceil(retryAfterMs / 1000)))
  return { status: scarce === 'diskBytes' ? 507 : 429, afterSeconds }
}

/** Nobody outside learns more about a bug; the log has it. */
const internal: ErrorJson = {
  code: 'internal',
  message: 'the daemon failed in an unexpected way',
  remedy: 'look for the request id in the log of the daemon, and report it',
}

/** For a route that is only a WebSocket. */
export function upgradeRequired(): StatusError {
  const error = new InvalidInputError('this route is a WebSocket', {
    remedy: 'connect to it with a client for WebSockets',
  })
  return new StatusError(426, error)
}

/** As nginx calls it: the client went away. */
const cancelledStatus = 499

function cancelled(): ConflictError {
  return new ConflictError('the request was cancelled', {
    remedy: 'send it again, with another idempotency key',
  })
}

/** Requests that fastify itself refuses: too long, malformed. */
function fromFastify(error: unknown): unknown {
  if (error instanceof ForkpointError || !(error instanceof Error)) return error
  if (error.name === 'AbortError') return new StatusError(cancelledStatus, cancelled())
  const { statusCode = 500, message } = error as FastifyError
  if (statusCode < 400 || statusCode >= 500) return error
  const refusal = new InvalidInputError(`the request is not acceptable: ${message}`, {
    remedy: '/openapi.json describes every request',
  })
  return new StatusError(statusCode, refusal)
}
