import { InvalidInputError } from './errors.ts'
import { quote } from './text/quote.ts'
import { formatDuration, parseAge } from './values/quantities.ts'

export const idleActions = ['pause', 'release', 'remove'] as const

export type IdleAction = (typeof idleActions)[number]

/** What happens to an environment that nobody has used for a while. */
export interface IdlePolicy {
  readonly afterMs: number
  readonly action: IdleAction
}

export const wakeModes = ['idle', 'always', 'never'] as const

/**
 * Whether a command, a file, a terminal or a port that somebody asks for brings back an environment that
 * sleeps: one that its idle policy paused or released (`idle`), also one that a caller did (`always`), or none.
 */
export type WakeMode = (typeof wakeModes)[number]

/** What happens to an environment by itself. */
export interface Policy {
  /** how long it exists; then it is removed, or whatever `ttlAction` says */
  readonly ttlMs?: number
  readonly ttlAction?: IdleAction
  readonly idle?: IdlePolicy
  readonly wake: WakeMode
  /** when it was set, if that was later than the environment was made */
  readonly since?: number
}

/** What an operation was started by, if not by a caller. */
export const causes = ['ttl', 'idle', 'access'] as const

export type Cause = (typeof causes)[number]

/** Policies are checked about once a second. */
export const leastPolicyMs = 1000

/** How long an environment may exist. */
export function parseTtl(value: string | number): number {
  const ms = parseAge(value)
  if (ms >= leastPolicyMs) return ms
  throw new InvalidInputError(`too short: ${quote(value)}`, {
    remedy: 'give at least 1s, such as 30m or 7d',
  })
}

/** `10m=pause`, `2h=release` or `7d=remove`. */
export function parseIdle(value: string): IdlePolicy {
  const [, after = '', word = ''] = /^([^=]+)=([a-z]+)$/.exec(value.trim()) ?? []
  const action = idleActions.find((known) => known === word)
  if (action !== undefined) return { afterMs: parseTtl(after), action }
  throw new InvalidInputError(`not an idle policy: ${quote(value)}`, {
    remedy: `give a duration and ${idleActions.join(', ')}, such as 10m=pause`,
  })
}

export function formatIdle({ afterMs, action }: IdlePolicy): string {
  return `${action} after ${formatDuration(afterMs)}`
}
