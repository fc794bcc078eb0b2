import type { FastifyError } from 'fastify'
import {
  ConnectionError,
  ForkpointError,
  InvalidInputError,
  NotFoundError,
  PermissionError,
} from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

/** The codes of the Connect protocol, with the status that its clients expect. */
const codes = {
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  already_exists: 409,
  failed_precondition: 400,
  resource_exhausted: 429,
  deadline_exceeded: 504,
  unimplemented: 501,
  unavailable: 503,
  internal: 500,
} as const

export type RpcCode = keyof typeof codes

/** How the control plane and the agent's HTTP answer. */
export interface Failure {
  readonly status: number
  readonly rpc: RpcCode
  readonly message: string
}

/** The clients take this status for a sandbox that is not running any more. */
export const goneStatus = 502

const failures: Readonly<Record<string, readonly [status: number, rpc: RpcCode]>> = {
  invalid_input: [400, 'invalid_argument'],
  permission: [403, 'permission_denied'],
  not_found: [404, 'not_found'],
  conflict: [409, 'already_exists'],
  unsupported: [501, 'unimplemented'],
  resource: [507, 'resource_exhausted'],
  timeout: [504, 'deadline_exceeded'],
  prerequisite: [503, 'unavailable'],
  connection: [goneStatus, 'unavailable'],
  backend_failed: [500, 'internal'],
}

/** No key, a wrong one, or one that was removed. */
export class UnauthenticatedError extends PermissionError {}

export function unauthenticated(message: string): UnauthenticatedError {
  return new UnauthenticatedError(message, {
    remedy: 'set E2B_API_KEY to what `forkpoint token create --e2b` printed',
  })
}

/** For a sandbox that was killed, timed out, or is paused. */
export function gone(id: string): ConnectionError {
  return new ConnectionError(`the sandbox ${quote(id)} is not running`, {
    happened: 'no',
    remedy: 'connect to it if it is paused, or create another',
  })
}

export function noSandbox(id: string): NotFoundError {
  return new NotFoundError(`sandbox ${quote(id)} not found`, {
    remedy: '`Sandbox.list()` lists those of this key',
  })
}

/** For what E2B has and Forkpoint has not. */
export function notHere(what: string, remedy: string): NotHereError {
  return new NotHereError(`${what} is not available with Forkpoint`, { remedy })
}

export class NotHereError extends InvalidInputError {}

export function failureOf(error: unknown): Failure {
  const message = messageOf(error)
  if (error instanceof UnauthenticatedError) return { status: 401, rpc: 'unauthenticated', message }
  if (error instanceof NotHereError) return { status: 501, rpc: 'unimplemented', message }
  if (error instanceof ForkpointError) return { ...known(error), message }
  const { statusCode = 500, code = '' } = error as FastifyError
  // What a client sent as compressed is not.
  if (code.startsWith('Z_')) return { status: 400, rpc: 'invalid_argument', message }
  if (statusCode >= 400 && statusCode < 500) {
    return { status: statusCode, rpc: 'invalid_argument', message }
  }
  return { status: 500, rpc: 'internal', message: 'the daemon failed; its log has the reason' }
}

export function statusOf(rpc: RpcCode): number {
  return codes[rpc]
}

function known({ code, detail }: ForkpointError): Omit<Failure, 'message'> {
  // Admission refuses for now, and the clients try again.
  if (typeof detail?.retryAfterMs === 'number') return { status: 429, rpc: 'resource_exhausted' }
  const [status, rpc] = failures[code] ?? [500, 'internal']
  const isState = code === 'conflict' && detail?.errno !== 'EEXIST'
  return { status, rpc: isState ? 'failed_precondition' : rpc }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure'
  const { message } = error
  const remedy = error instanceof ForkpointError ? error.remedy : undefined
  return remedy === undefined ? message : `${message} (${remedy})`
}
