import type { Capability } from './capabilities.ts'

export type ErrorCode =
  | 'not_found'
  | 'conflict'
  | 'invalid_input'
  | 'unsupported'
  | 'timeout'
  | 'backend_failed'
  | 'resource'
  | 'prerequisite'

export interface ErrorFacts {
  /** What the user can do about it; a clause without a final stop. */
  remedy?: string | undefined
  /** Machine-readable facts beside the message; must survive JSON. */
  detail?: Record<string, unknown> | undefined
  cause?: unknown
}

export interface ErrorJson {
  code: string
  message: string
  remedy?: string
  detail?: Record<string, unknown>
}

/** The root of every error a caller may want to tell apart; `code` is stable across releases. */
export class ForkpointError extends Error {
  override readonly name: string = 'ForkpointError'
  readonly code: string
  readonly remedy: string | undefined
  readonly detail: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = code
    this.remedy = facts.remedy
    this.detail = facts.detail
  }
}

export class NotFoundError extends ForkpointError {
  override readonly name = 'NotFoundError'
  constructor(message: string, facts?: ErrorFacts) {
    super('not_found', message, facts)
  }
}

export class ConflictError extends ForkpointError {
  override readonly name = 'ConflictError'
  constructor(message: string, facts?: ErrorFacts) {
    super('conflict', message, facts)
  }
}

export class InvalidInputError extends ForkpointError {
  override readonly name = 'InvalidInputError'
  constructor(message: string, facts?: ErrorFacts) {
    super('invalid_input', message, facts)
  }
}

/** The backend cannot do this at all; trying again will not help, another backend may. */
export class UnsupportedError extends ForkpointError {
  override readonly name = 'UnsupportedError'
  readonly capability: Capability
  constructor(capability: Capability, message: string, facts: ErrorFacts = {}) {
    super('unsupported', message, { ...facts, detail: { ...facts.detail, capability } })
    this.capability = capability
  }
}

export class TimeoutError extends ForkpointError {
  override readonly name = 'TimeoutError'
  constructor(message: string, facts?: ErrorFacts) {
    super('timeout', message, facts)
  }
}

export interface BackendErrorFacts extends ErrorFacts {
  /** The end of what the failed tool itself said. */
  lastWords?: string | undefined
  /** Where the rest of it is. */
  logPath?: string | undefined
}

/** Of what a tool, or a program inside, has said: enough for its last lines. */
const mostLastWords = 4096

export class BackendError extends ForkpointError {
  override readonly name = 'BackendError'
  readonly lastWords: string | undefined
  readonly logPath: string | undefined
  constructor(message: string, facts: BackendErrorFacts = {}) {
    const { logPath } = facts
    const lastWords = facts.lastWords?.slice(-mostLastWords)
    const said = { ...(lastWords && { lastWords }), ...(logPath && { logPath }) }
    const detail = { ...facts.detail, ...said }
    super('backend_failed', message, {
      ...facts,
      detail: Object.keys(detail).length > 0 ? detail : undefined,
    })
    this.lastWords = lastWords
    this.logPath = logPath
  }
}

/** The machine has run out of something: disk, memory, ids, addresses. */
export class ResourceError extends ForkpointError {
  override readonly name = 'ResourceError'
  constructor(message: string, facts?: ErrorFacts) {
    super('resource', message, facts)
  }
}

/** Something Forkpoint needs from this machine is missing; `doctor` knows more. */
export class PrerequisiteError extends ForkpointError {
  override readonly name = 'PrerequisiteError'
  constructor(message: string, facts?: ErrorFacts) {
    super('prerequisite', message, facts)
  }
}

const exitCodes = new Map<string, number>([
  ['invalid_input', 2],
  ['not_found', 3],
  ['conflict', 4],
  ['unsupported', 5],
  ['prerequisite', 6],
] satisfies [ErrorCode, number][])

/** The exit code of a command that ended with `error`; 0 is a command that did not, 1 any other. */
export function exitCodeOf(error: unknown): number {
  return error instanceof ForkpointError ? (exitCodes.get(error.code) ?? 1) : 1
}

/** The error as `--json` and REST show it. Unexpected errors keep their message, not their stack. */
export function toJson(error: unknown): ErrorJson {
  if (!(error instanceof ForkpointError)) {
    return { code: 'internal', message: error instanceof Error ? error.message : String(error) }
  }
  return {
    code: error.code,
    message: error.message,
    ...(error.remedy !== undefined && { remedy: error.remedy }),
    ...(error.detail !== undefined && { detail: { ...error.detail } }),
  }
}
