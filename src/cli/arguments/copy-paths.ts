import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

export interface CopyRequest {
  readonly direction: 'in' | 'out'
  /** reference of the environment */
  readonly env: string
  readonly inside: string
  readonly host: string
}

/** Reads the two sides of `cp`, exactly one of which is `ENV:/path`. */
export function parseCopy(source: string, target: string): CopyRequest {
  const from = insidePath(source)
  const to = insidePath(target)
  if (from && to) {
    throw bad('both sides are inside an environment', 'copy to the host first, then in from there')
  }
  if (from) return { direction: 'out', ...from, host: hostPath(target) }
  if (to) return { direction: 'in', ...to, host: hostPath(source) }
  throw bad('neither side is inside an environment', 'write one side as ENV:/path')
}

/** A slash before the colon marks a host path: `./a:b`. */
function insidePath(text: string): { env: string; inside: string } | undefined {
  const [, env, inside] = /^([^/:]+):(.*)$/s.exec(text) ?? []
  if (env === undefined || inside === undefined) return undefined
  if (inside.startsWith('/')) return { env, inside: requireText(inside) }
  throw bad(
    `${quote(text)} is not ENV:/path`,
    'give an absolute path inside; a host path with a colon is written ./a:b',
  )
}

/** What `export` and `apply` work on: a directory inside, if one is named, and one of this machine. */
export interface Places {
  readonly path?: string
  readonly dir: string
}

/** Reads `[PATH] DIR`. */
export function parsePlaces(words: readonly string[]): Places {
  const [first = '', second, ...more] = words
  if (more.length > 0) throw bad('there are too many paths', 'give [PATH] DIR: at most two')
  if (second === undefined) return { dir: hostPath(first) }
  if (first.startsWith('/')) return { path: requireText(first), dir: hostPath(second) }
  throw bad(
    `${quote(first)} is not a path inside`,
    'give an absolute path inside, then the directory of this machine',
  )
}

/** A path on this machine, as it was typed. */
export function hostPath(text: string): string {
  if (text === '') {
    throw bad('the path on the host is empty', 'give a path; "." is the current directory')
  }
  return requireText(text)
}

/** Node replaces bytes that are not UTF-8 with this character, so the real name is lost. */
function requireText(text: string): string {
  if (!text.includes('\ufffd')) return text
  throw bad(`${quote(text)} is not UTF-8`, 'name the directory that contains it')
}

function bad(why: string, remedy: string): InvalidInputError {
  return new InvalidInputError(`cannot copy: ${why}`, { remedy })
}
