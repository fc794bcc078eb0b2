import { allCapabilities, type Capability } from './capabilities.ts'

export type ErrorCode =
  | 'not_found'
  | 'conflict'
  | 'invalid_input'
  | 'unsupported'
  | 'timeout'
  | 'backend_failed'
  | 'resource'
  | 'prerequisite'
  | 'permission'
  | 'connection'
  | 'internal'

export interface ErrorFacts {
  /** What the user can do about it; a clause without a full stop. */
  remedy?: string | undefined
  /** Machine-readable facts in addition to the message; must survive JSON. */
  detail?: Readonly<Record<string, unknown>> | undefined
  cause?: unknown
}

export interface ErrorJson {
  code: string
  message: string
  remedy?: string
  detail?: Readonly<Record<string, unknown>>
}

/** The base of every error that a caller may want to distinguish; `code` is stable across releases. */
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

/** The backend cannot do this at all. Trying again will not help; another backend may. */
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
  /** The end of the failed tool's own output. */
  lastWords?: string | undefined
  /** Where the rest of that output is. */
  logPath?: string | undefined
  /** Whether trying again may succeed. */
  temporary?: boolean | undefined
  /** Whether it will fail each time, because what it works on is at fault and not the machine. */
  permanent?: boolean | undefined
}

/** How much of a tool's output is kept: enough for its last lines. */
const mostLastWords = 4096

export class BackendError extends ForkpointError {
  override readonly name = 'BackendError'
  readonly lastWords: string | undefined
  readonly logPath: string | undefined
  readonly isTemporary: boolean
  readonly isPermanent: boolean
  constructor(message: string, facts: BackendErrorFacts = {}) {
    const { logPath } = facts
    const lastWords = facts.lastWords?.slice(-mostLastWords)
    const detail: Record<string, unknown> = { ...facts.detail }
    if (lastWords) detail.lastWords = lastWords
    if (logPath) detail.logPath = logPath
    super('backend_failed', message, {
      ...facts,
      detail: Object.keys(detail).length > 0 ? detail : undefined,
    })
    this.lastWords = lastWords
    this.logPath = logPath
    this.isTemporary = facts.temporary === true
    this.isPermanent = facts.permanent === true
  }
}

/** The machine has run out of something: disk, memory, ids, addresses. */
export class ResourceError extends ForkpointError {
  override readonly name = 'ResourceError'
  constructor(message: string, facts?: ErrorFacts) {
    super('resource', message, facts)
  }
}

/** The machine lacks something that Forkpoint needs; `doctor` knows more. */
export class PrerequisiteError extends ForkpointError {
  override readonly name = 'PrerequisiteError'
  constructor(message: string, facts?: ErrorFacts) {
    super('prerequisite', message, facts)
  }
}

/** The caller is not allowed to do this, or could not show who it is. */
export class PermissionError extends ForkpointError {
  override readonly name = 'PermissionError'
  constructor(message: string, facts?: ErrorFacts) {
    super('permission', message, facts)
  }
}

/** Whether the operation that a lost connection carried may have happened. */
export type Happened = 'no' | 'maybe'

export interface ConnectionErrorFacts extends ErrorFacts {
  readonly happened: Happened
}

/** A daemon cannot be reached, or the connection to it was lost for good. */
export class ConnectionError extends ForkpointError {
  override readonly name = 'ConnectionError'
  readonly happened: Happened
  constructor(message: string, { happened, ...facts }: ConnectionErrorFacts) {
    super('connection', message, { ...facts, detail: { ...facts.detail, happened } })
    this.happened = happened
  }
}

const exitCodes = new Map<string, number>([
  ['invalid_input', 2],
  ['not_found', 3],
  ['conflict', 4],
  ['unsupported', 5],
  ['prerequisite', 6],
  ['permission', 7],
] satisfies [ErrorCode, number][])

/** The exit code of a command that failed with `error`; 1 for an unexpected error. */
export function exitCodeOf(error: unknown): number {
  return error instanceof ForkpointError ? (exitCodes.get(error.code) ?? 1) : 1
}

/** The error as `--json` and REST show it. Unexpected errors keep their message, not their stack. */
export function toJson(error: unknown): ErrorJson {
  if (!(error instanceof ForkpointError)) {
    return { code: 'internal', message: error instanceof Error ? error.message : String(error) }
  }
  const { code, message, remedy, detail } = error
  const json: ErrorJson = { code, message }
  if (remedy !== undefined) json.remedy = remedy
  if (detail !== undefined) json.detail = { ...detail }
  return json
}

type Maker = (message: string, facts: ErrorFacts) => ForkpointError

const makers = new Map<string, Maker>([
  ['not_found', (message, facts) => new NotFoundError(message, facts)],
  ['conflict', (message, facts) => new ConflictError(message, facts)],
  ['invalid_input', (message, facts) => new InvalidInputError(message, facts)],
  ['unsupported', unsupportedFromJson],
  ['timeout', (message, facts) => new TimeoutError(message, facts)],
  ['backend_failed', backendErrorFromJson],
  ['resource', (message, facts) => new ResourceError(message, facts)],
  ['prerequisite', (message, facts) => new PrerequisiteError(message, facts)],
  ['permission', (message, facts) => new PermissionError(message, facts)],
  ['connection', connectionErrorFromJson],
] satisfies [ErrorCode, Maker][])

/** Rebuilds the error that `toJson` wrote, on the other side of a wire. */
export function errorFromJson({
  code,
  message,
  remedy,
  detail,
}: Readonly<ErrorJson>): ForkpointError {
  const facts: ErrorFacts = { remedy, detail }
  const make = makers.get(code)
  // An unknown code is a bug, or comes from a later version.
  return make ? make(message, facts) : new ForkpointError('internal', message, facts)
}

function unsupportedFromJson(message: string, facts: ErrorFacts): UnsupportedError {
  const named = allCapabilities.find((capability) => capability === facts.detail?.capability)
  return new UnsupportedError(named ?? 'filesystem', message, facts)
}

function backendErrorFromJson(message: string, facts: ErrorFacts): BackendError {
  const { lastWords, logPath } = facts.detail ?? {}
  return new BackendError(message, {
    ...facts,
    lastWords: typeof lastWords === 'string' ? lastWords : undefined,
    logPath: typeof logPath === 'string' ? logPath : undefined,
  })
}

function connectionErrorFromJson(message: string, facts: ErrorFacts): ConnectionError {
  const happened = facts.detail?.happened === 'no' ? 'no' : 'maybe'
  return new ConnectionError(message, { ...facts, happened })
}
