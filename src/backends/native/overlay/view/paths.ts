import { isBelow } from '../../../../linux/mask/outermost.ts'
import { InvalidInputError } from '../../../../model/errors.ts'
import { quote } from '../../../../model/text/quote.ts'

/** Made by Forkpoint or mounted over: not files of the environment. */
const internal = ['/.forkpoint', '/run/forkpoint', '/dev', '/proc', '/sys']

export function isInternal(path: string): boolean {
  return internal.some((above) => isBelow(path, above))
}

/** A path inside, as given by the caller: absolute and without `..`. */
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

/** Compares UTF-16 units, so that the order does not depend on the locale. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
