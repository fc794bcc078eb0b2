import { hash, randomBytes } from 'node:crypto'
import { PermissionError } from '../../model/errors.ts'
import type { Scope } from '../../model/values/scopes.ts'

/** What the session has that a link is exchanged for. */
export interface Grant {
  readonly scope: Scope
  readonly labels: Readonly<Record<string, string>>
  readonly expiresMs: number
}

/** Links that log a browser in, each once and for a short time. The daemon keeps them in memory alone. */
export interface LoginLinks {
  make(grant: Grant): { readonly code: string; readonly expiresAt: number }
  /** What the link grants, which is then used up; throws if it was, or is too old. */
  use(code: string): Grant
}

/** Enough to switch to a browser, even on another machine. */
const lifetimeMs = 2 * 60_000
const codeBytes = 24
/** More are never open at once, unless somebody makes them in a loop. */
const mostLinks = 64

export function loginLinks(now: () => number = Date.now): LoginLinks {
  /** By the digest of the code, so that finding one takes no time that depends on the secret. */
  const open = new Map<string, Grant & { readonly until: number }>()
  return {
    make: (grant) => {
      const code = randomBytes(codeBytes).toString('base64url')
      const until = now() + lifetimeMs
      for (const [digest, link] of open) if (link.until <= now()) open.delete(digest)
      const [oldest] = open.keys()
      if (open.size >= mostLinks && oldest !== undefined) open.delete(oldest)
      open.set(hash('sha256', code), { ...grant, until })
      return { code, expiresAt: until }
    },
    use: (code) => {
      const digest = hash('sha256', code)
      const link = open.get(digest)
      open.delete(digest)
      if (link === undefined || link.until <= now()) throw spent()
      const { until: _until, ...grant } = link
      return grant
    },
  }
}

function spent(): PermissionError {
  return new PermissionError('the link was used before, or is older than two minutes', {
    remedy: 'make another one with `forkpoint dashboard`',
  })
}
