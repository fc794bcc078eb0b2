import * as z from 'zod/mini'
import { type Input, value } from './checked.ts'

/** The limit for a name, a reference or another word. */
const longestWord = 1024
/** The kernel's limit for a path. */
const longestPath = 4095

export function oneOf<const T extends string>(...words: readonly T[]): Input<T> {
  const accepts = words.join(' or ')
  const base = z.enum(words, { error: accepts })
  return value(accepts, (given) => words.find((word) => word === given), base)
}

export const truth: Input<boolean> = value(
  'true or false',
  (given) => (typeof given === 'boolean' ? given : undefined),
  z.boolean({ error: 'true or false' }),
)

/** Text that `read` converts, or returns undefined for if it is not acceptable. */
export function textValue<T>(accepts: string, read: (given: string) => T | undefined): Input<T> {
  const base = z.string({ error: accepts })
  return value(accepts, (given) => (typeof given === 'string' ? read(given) : undefined), base)
}

export function number(accepts: string, isGood: (given: number) => boolean): Input<number> {
  const read = (given: unknown) => (typeof given === 'number' && isGood(given) ? given : undefined)
  return value(accepts, read, z.number({ error: accepts }))
}

/** A name, an id or the like, whose own rules are checked later. */
export const word: Input<string> = textValue(
  `a word of up to ${longestWord} characters`,
  (given) => (isText(given) && given.length <= longestWord ? given : undefined),
)

export function text(most: number): Input<string> {
  const accepts = `text of up to ${most} characters, without NUL`
  return textValue(accepts, (given) => (isText(given) && given.length <= most ? given : undefined))
}

/** A path on the host, or the directory in which a program inside starts. */
export const path: Input<string> = textValue('a path of up to 4095 bytes', (given) =>
  isPath(given) ? given : undefined,
)

export const absolutePath: Input<string> = textValue(
  'an absolute path of up to 4095 bytes',
  (given) => (isPath(given) && given.startsWith('/') ? given : undefined),
)

export const signal: Input<AbortSignal> = value('an AbortSignal', (given) =>
  given instanceof AbortSignal ? given : undefined,
)

export function callback<T extends (...args: never[]) => unknown>(): Input<T> {
  return value('a function', (given) => (typeof given === 'function' ? (given as T) : undefined))
}

export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): Input<number> {
  const upTo = most === Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`
  return number(
    `a whole number${upTo}`,
    (given) => Number.isSafeInteger(given) && given >= least && given <= most,
  )
}

/** setTimeout fires immediately when asked to wait longer. */
const longestTimerMs = 2 ** 31 - 1

export const timeout: Input<number> = number(
  'milliseconds, more than 0 and up to 2147483647 (24 days)',
  (given) => given > 0 && given <= longestTimerMs,
)

export function isText(given: unknown): given is string {
  return typeof given === 'string' && !given.includes('\0')
}

function isPath(given: string): boolean {
  return isText(given) && given !== '' && Buffer.byteLength(given) <= longestPath
}

const longestIdempotencyKey = 200

/** The same call with the same key is carried out once, and answered alike each time. */
export const idempotencyKey: Input<string> = text(longestIdempotencyKey)
