import { createHmac, timingSafeEqual } from 'node:crypto'
import { unauthenticated } from './failures.ts'

/** The id of a key, and what only the daemon can derive from it and the sandbox. */
const shape = /^([0-9a-f]{8})([0-9a-f]{64})$/

/**
 * What a client shows to a sandbox instead of its key. It says whose key it came from, so that it ends with
 * that key, and it is the same each time, so that the signatures of URLs stay valid.
 */
export function accessToken(secret: Buffer, principal: string, sandbox: string): string {
  const proof = createHmac('sha256', secret).update(`${principal}:${sandbox}`).digest('hex')
  return `${principal}${proof}`
}

/** Whose key an access token came from; throws if it is not one of this sandbox. */
export function holderOf(secret: Buffer, token: string, sandbox: string): string {
  const [, principal] = shape.exec(token) ?? []
  if (principal !== undefined && isSame(token, accessToken(secret, principal, sandbox))) {
    return principal
  }
  throw unauthenticated(`the access token does not belong to the sandbox ${sandbox}`)
}

export function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
