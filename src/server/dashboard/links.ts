import { PermissionError } from '../../model/errors.ts'
import type { Scope } from '../../model/values/scopes.ts'
import { type Codes, codes } from '../access/codes.ts'

/** What the session has that a link is exchanged for. */
export interface Grant {
  readonly scope: Scope
  readonly labels: Readonly<Record<string, string>>
  readonly expiresMs: number
}

/** Links that log a browser in, each once and for a short time. */
export interface LoginLinks {
  make: Codes<Grant>['make']
  /** What the link grants, which is then used up; throws if it was, or is too old. */
  use(code: string): Grant
}

/** Enough to switch to a browser, even on another machine. */
const lifetimeMs = 2 * 60_000
/** More are never open at once, unless somebody makes them in a loop. */
const mostLinks = 64

export function loginLinks(now: () => number = Date.now): LoginLinks {
  const open = codes<Grant>({ lifetimeMs, most: mostLinks, now })
  return {
    make: open.make,
    use: (code) => {
      const grant = open.take(code)
      if (grant === null) throw spent()
      return grant
    },
  }
}

function spent(): PermissionError {
  return new PermissionError('the link was used before, or is older than two minutes', {
    remedy: 'make another one with `forkpoint dashboard`',
  })
}
