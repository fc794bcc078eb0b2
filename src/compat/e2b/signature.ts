import { hash } from 'node:crypto'
import { isSame } from './access.ts'
import { unauthenticated } from './failures.ts'

/** What a URL of `downloadUrl` or `uploadUrl` says. */
export interface SignedUrl {
  readonly path: string
  readonly operation: 'read' | 'write'
  readonly user: string
  readonly signature: string
  /** in seconds; absent: it does not expire */
  readonly expiration: string | undefined
}

/** Refuses one that has expired, before anybody looks for its sandbox. */
export function requireFresh({ expiration }: SignedUrl, nowMs: number): void {
  if (expiration === undefined) return
  const seconds = /^\d{1,12}$/.test(expiration) ? Number(expiration) : 0
  if (seconds * 1000 < nowMs) throw unauthenticated('the signature of the URL has expired')
}

/** Whether it was signed with this access token. */
export function isSignedWith(url: SignedUrl, token: string): boolean {
  const { path, operation, user, signature, expiration } = url
  const parts = [path, operation, user, token]
  if (expiration !== undefined) parts.push(expiration)
  const digest = hash('sha256', parts.join(':'), 'base64').replace(/=+$/, '')
  return isSame(signature, `v1_${digest}`)
}
