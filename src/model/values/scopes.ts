/**
 * What a caller may do, each including those before it: look (`read`), run things inside (`exec`), make
 * and change environments and snapshots (`branch`), or decide for everybody who uses this store
 * (`admin`).
 */
export const scopes = ['read', 'exec', 'branch', 'admin'] as const

export type Scope = (typeof scopes)[number]

export function isScope(given: unknown): given is Scope {
  return scopes.some((scope) => scope === given)
}

/** Whether whoever has `held` may do what needs `needed`. */
export function includesScope(held: Scope, needed: Scope): boolean {
  return scopes.indexOf(held) >= scopes.indexOf(needed)
}

/** A scope and all those it includes. */
export function scopesOf(held: Scope): readonly Scope[] {
  return scopes.slice(0, scopes.indexOf(held) + 1)
}
