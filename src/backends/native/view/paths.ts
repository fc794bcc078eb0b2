import { InvalidInputError } from '../../../model/errors.ts'
import { quote } from '../../../model/quote.ts'

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

/** Without the paths that lie below another one of the list. */
export function outermost(paths: Iterable<string>): string[] {
  const all = new Set(paths)
  return [...all].filter((path) => !ancestors(path).some((above) => all.has(above)))
}

/** From the nearest up; the root is not among them. */
export function ancestors(path: string): string[] {
  const found: string[] = []
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    found.push(path.slice(0, end))
  }
  return found
}

/** By UTF-16 unit: the same order everywhere, whatever the locale. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
