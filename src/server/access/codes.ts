import { hash, randomBytes } from 'node:crypto'

/** Secrets for links, which the daemon keeps in memory alone, each with what it is good for. */
export interface Codes<T> {
  make(value: T): { readonly code: string; readonly expiresAt: number }
  /** What the code is good for; null if nobody made it, or it is too old. */
  look(code: string): T | null
  /** The same, once. */
  take(code: string): T | null
}

interface CodeOptions {
  readonly lifetimeMs: number
  /** The oldest goes when there are more. */
  readonly most: number
  readonly now?: () => number
}

const codeBytes = 24

export function codes<T>({ lifetimeMs, most, now = Date.now }: CodeOptions): Codes<T> {
  /** By the digest of the code, so that finding one takes no time that depends on the secret. */
  const open = new Map<string, { readonly value: T; readonly until: number }>()
  const look = (code: string) => {
    const found = open.get(hash('sha256', code))
    return found === undefined || found.until <= now() ? null : found.value
  }
  return {
    make: (value) => {
      const code = randomBytes(codeBytes).toString('base64url')
      const until = now() + lifetimeMs
      for (const [digest, each] of open) if (each.until <= now()) open.delete(digest)
      const [oldest] = open.keys()
      if (open.size >= most && oldest !== undefined) open.delete(oldest)
      open.set(hash('sha256', code), { value, until })
      return { code, expiresAt: until }
    },
    look,
    take: (code) => {
      const value = look(code)
      open.delete(hash('sha256', code))
      return value
    },
  }
}
