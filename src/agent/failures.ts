import { constants } from 'node:os'
import {
  BackendError,
  ConflictError,
  type ForkpointError,
  InvalidInputError,
  NotFoundError,
  ResourceError,
  TimeoutError,
} from '../model/errors.ts'
import { printable as printableText } from '../model/text/printable.ts'
import { MAX_OPEN_BYTES, PROTOCOL_VERSION } from './wire/wire.ts'

/** What a call was doing and to what, for the error message. */
export interface Attempt {
  /** Infinitive, as in "cannot read /etc/hosts". */
  readonly verb: string
  readonly subject: string
}

// Some numbers have two names, such as EAGAIN and EWOULDBLOCK; the first is the one people know.
const errnoNames = new Map(
  Object.entries(constants.errno)
    .reverse()
    .map(([name, number]) => [number, name] as const),
)

/** The name of an errno number, `E123` for one this platform does not know. */
export function errnoName(errno: number): string {
  return errnoNames.get(errno) ?? `E${errno}`
}

/** The typed error for a call that the agent refused with `errno`. */
export function agentRefusal(attempt: Attempt, errno: number, message: string): ForkpointError {
  const name = errnoName(errno)
  const reason = message === '' ? name : `${printable(message)} (${name})`
  return refusal(attempt, name, reason, insideRemedies)
}

/** The typed error for something that the host's own kernel refused; returns other errors unchanged. */
export function hostRefusal(attempt: Attempt, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string')
    return error
  if (!('syscall' in error)) return error
  return refusal(attempt, error.code, error.code, hostRemedies, error)
}

interface Remedies {
  readonly space: string
  readonly permission: string
}

const insideRemedies: Remedies = {
  space: 'free space inside the environment, or on the disk that holds the store',
  permission: 'check the permissions and mounts of that path inside the environment',
}
const hostRemedies: Remedies = {
  space: 'free space on that disk of the host',
  permission: 'check the permissions of that path on the host',
}

function refusal(
  attempt: Attempt,
  name: string,
  reason: string,
  remedies: Remedies,
  cause?: unknown,
): ForkpointError {
  const subject = printable(attempt.subject)
  const message = `cannot ${attempt.verb} ${subject}: ${reason}`
  const remedy = remedyOf(name, remedies)
  const facts = { detail: { errno: name, subject }, remedy, cause }
  switch (name) {
    case 'ENOENT':
    case 'ESRCH':
      return new NotFoundError(message, facts)
    case 'EEXIST':
    case 'ENOTEMPTY':
    case 'EISDIR':
    case 'ENOTDIR':
    case 'EBUSY':
    case 'EADDRINUSE':
    case 'ECONNABORTED':
      return new ConflictError(message, facts)
    case 'EINVAL':
    case 'ENAMETOOLONG':
    case 'E2BIG':
      return new InvalidInputError(message, facts)
    case 'ETIMEDOUT':
      return new TimeoutError(message, facts)
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
    case 'EAGAIN':
      return new ResourceError(message, facts)
    default:
      return new BackendError(message, facts)
  }
}

const errnoRemedies: Readonly<Record<string, string>> = {
  ENOENT: 'check the spelling, and that it exists',
  ESRCH: 'check that it still runs',
  EEXIST: 'choose another name, or remove the existing one',
  ENOTEMPTY: 'empty the directory first, or remove it with everything in it',
  EISDIR: 'give the path of a file',
  ENOTDIR: 'check that every part of the path before the last is a directory',
  EBUSY: 'wait until it is no longer in use, then try again',
  EADDRINUSE: 'choose another port, or end the program that uses this one',
  ECONNABORTED: 'another client took it over; attach again if you still need it',
  EINVAL: 'check the values of this request',
  ENAMETOOLONG: 'use a shorter path',
  E2BIG: 'write long arguments to a file, or pass them on stdin',
  ETIMEDOUT: 'check that the address can be reached, then try again',
  EMFILE: 'end other processes, or raise the limits',
  ENFILE: 'end other processes, or raise the limits',
  ENOMEM: 'end other processes, or raise the limits',
  EAGAIN: 'end other processes, or raise the limits',
  ECONNREFUSED: 'check that something listens on that port inside the environment',
}

function remedyOf(name: string, remedies: Remedies): string {
  switch (name) {
    case 'ENOSPC':
    case 'EDQUOT':
      return remedies.space
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return remedies.permission
    default:
      return errnoRemedies[name] ?? 'check the environment with `forkpoint doctor`, then try again'
  }
}

/** The agent broke the protocol: it is hostile, or a different version. */
export function protocolError(what: string): BackendError {
  return new BackendError(`the agent broke the protocol: ${what}`, {
    remedy: 'the environment may have been tampered with; restore it from a snapshot',
  })
}

/** A separate type, because what runs inside continues, and the caller can attach to it again. */
export class ConnectionLostError extends BackendError {}

export function connectionLost(cause?: unknown): ConnectionLostError {
  return new ConnectionLostError('the connection to the agent was lost', {
    cause,
    remedy: 'connect again; running commands continue and can be attached to by id',
  })
}

export const NO_ANSWER_REMEDY =
  'it may be overloaded, stopped or tampered with: try again, restore a snapshot, or remove the environment'

/** The agent is alive but does not answer a request. */
export function noAnswer(attempt: Attempt, seconds: number): TimeoutError {
  const what = `cannot ${attempt.verb} ${printable(attempt.subject)}`
  return new TimeoutError(`${what}: the agent did not answer within ${seconds} s`, {
    remedy: NO_ANSWER_REMEDY,
  })
}

/** The agent does not even answer pings. */
export function agentIsSilent(seconds: number): TimeoutError {
  return new TimeoutError(`the agent has not answered for ${seconds} s`, {
    remedy: NO_ANSWER_REMEDY,
  })
}

export function requestTooLong(attempt: Attempt, bytes: number): InvalidInputError {
  const what = `cannot ${attempt.verb} ${printable(attempt.subject)}`
  return new InvalidInputError(
    `${what}: the request is ${bytes} bytes, at most ${MAX_OPEN_BYTES} are allowed`,
    { remedy: 'write a long command to a file and run that, or pass long input on stdin' },
  )
}

export function tooManyStreams(attempt: Attempt, count: number): ResourceError {
  const what = `cannot ${attempt.verb} ${printable(attempt.subject)}`
  return new ResourceError(`${what}: ${count} operations are open on this connection`, {
    remedy: 'end some of them first, or open another connection',
  })
}

export function otherVersion(version: number): BackendError {
  return new BackendError(
    `the agent speaks protocol version ${version}, this forkpoint speaks ${PROTOCOL_VERSION}`,
    {
      remedy: 'use the forkpoint release that created the environment, or create it again',
      detail: { agentVersion: version, hostVersion: PROTOCOL_VERSION },
    },
  )
}

/** Text from inside, made safe to print: no control characters, bounded. */
export function printable(text: string): string {
  const clean = printableText(text.slice(0, 501))
  return clean.length <= 500 ? clean : `${clean.slice(0, 500)}…`
}
