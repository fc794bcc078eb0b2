import { PermissionError } from '../../model/errors.ts'
import { includesScope, type Scope } from '../../model/values/scopes.ts'

/** Who makes a request. */
export interface Principal {
  readonly id: string
  readonly name: string | null
  readonly scope: Scope
  /** it only reaches what carries all of these */
  readonly labels: Readonly<Record<string, string>>
}

/** Whoever can open the Unix socket; the permissions of that file decide who can. */
export const localPrincipal: Principal = { id: 'local', name: null, scope: 'admin', labels: {} }

export function isRestricted({ labels }: Principal): boolean {
  return Object.keys(labels).length > 0
}

export function requireScope(principal: Principal, needed: Scope): void {
  if (includesScope(principal.scope, needed)) return
  throw new PermissionError(
    `this needs the scope ${needed}, and the token has ${principal.scope}`,
    {
      remedy: `use a token with the scope ${needed}`,
      detail: { needed, scope: principal.scope },
    },
  )
}

/** For what concerns everybody who uses the store. */
export function requireUnrestricted(principal: Principal): void {
  if (!isRestricted(principal)) return
  const shown = Object.entries(principal.labels).map(([key, value]) => `${key}=${value}`)
  throw new PermissionError(`the token is restricted to ${shown.join(', ')}`, {
    remedy: 'use a token without labels',
  })
}
