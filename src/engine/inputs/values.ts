import { type Input, value } from './checked.ts'

/** The most of a name, a reference or another word. */
const longestWord = 1024
/** What the kernel takes of a path. */
const longestPath = 4095

export function oneOf<const T extends string>(...words: readonly T[]): Input<T> {
  return value(words.join(' or '), (given) => words.find((word) => word === given))
}

export const truth: Input<boolean> = value('true or false', (given) =>
  typeof given === 'boolean' ? given : undefined,
)

/** Of a name, an id or the like; its own rules come later. */
export const word: Input<string> = value(`a word of up to ${longestWord} characters`, (given) =>
  isText(given) && given.length <= longestWord ? given : undefined,
)

export function text(most: number): Input<string> {
  const accepts = `text of up to ${most} characters, without NUL`
  return value(accepts, (given) => (isText(given) && given.length <= most ? given : undefined))
}

/** Of the host, or where a program inside begins; what it leads to is another question. */
export const path: Input<string> = value('a path of up to 4095 bytes', (given) =>
  isPath(given) ? given : undefined,
)

export const absolutePath: Input<string> = value('an absolute path of up to 4095 bytes', (given) =>
  isPath(given) && given.startsWith('/') ? given : undefined,
)

export const signal: Input<AbortSignal> = value('an AbortSignal', (given) =>
  given instanceof AbortSignal ? given : undefined,
)

export function callback<T extends (...args: never[]) => unknown>(): Input<T> {
  return value('a function', (given) => (typeof given === 'function' ? (given as T) : undefined))
}

export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): Input<number> {
  const upTo = most === Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`
  return value(`a whole number${upTo}`, (given) =>
    Number.isSafeInteger(given) && Number(given) >= least && Number(given) <= most
      ? Number(given)
      : undefined,
  )
}

/** setTimeout fires at once when asked to wait longer. */
const longestTimerMs = 2 ** 31 - 1

export const timeout: Input<number> = value(
  'milliseconds, more than 0 and up to 2147483647 (24 days)',
  (given) =>
    typeof given === 'number' && given > 0 && given <= longestTimerMs ? given : undefined,
)

export function isText(given: unknown): given is string {
  return typeof given === 'string' && !given.includes('\0')
}

function isPath(given: unknown): given is string {
  return isText(given) && given !== '' && Buffer.byteLength(given) <= longestPath
}
