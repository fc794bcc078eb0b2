import { InvalidInputError } from '../../../../model/errors.ts'
import { quote } from '../../../../model/quote.ts'

/** Made by Forkpoint or mounted over: no file of the environment's own. */
const internal = ['/.forkpoint', '/run/forkpoint', '/dev', '/proc', '/sys']

export function isBelow(path: string, above: string): boolean {
  return above === '/' || path === above || path.startsWith(`${above}/`)
}

export function isInternal(path: string): boolean {
  return internal.some((above) => isBelow(path, above))
}

/** A path inside, as the caller may give it: absolute, with nothing to resolve in it. */
export function parseInsidePath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (path.startsWith('/') && !parts.includes('..') && !path.includes('\0')) {
    return `/${parts.join('/')}`
  }
  throw new InvalidInputError(`not a path inside an environment: ${quote(path)}`, {
    remedy: 'give an absolute path without ..',
  })
}

/** The path as `cell` takes it. */
export function relative(path: string): string {
  return path.slice(1)
}

/**
 * The path as it sorts in a tree: what is below a directory follows it at once. Components are told
 * apart by NUL, which comes before every character of a name.
 */
export function treeKey(path: string): string {
  return path.slice(1).replaceAll('/', '\0')
}

/** Without the paths that lie below another one of the list; in the order of the tree. */
export function outermost(paths: Iterable<string>): string[] {
  const kept: string[] = []
  for (const key of Array.from(paths, treeKey).sort()) {
    const last = kept.at(-1)
    if (last === undefined || !isAtOrUnder(key, last)) kept.push(key)
  }
  return kept.map(pathOfKey)
}

export function pathOfKey(key: string): string {
  return `/${key.replaceAll('\0', '/')}`
}

/** Of two keys. */
export function isAtOrUnder(key: string, above: string): boolean {
  if (above === '') return true
  return key.startsWith(above) && (key.length === above.length || key[above.length] === '\0')
}

/** By UTF-16 unit: the same order everywhere, whatever the locale. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
