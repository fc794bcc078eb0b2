import type { EnvironmentRecord, EnvironmentStatus } from '../../model/environment.ts'
import type { IdleAction } from '../../model/policy.ts'

/** What a policy will do next to an environment. */
export interface Due {
  readonly cause: 'ttl' | 'idle'
  readonly action: IdleAction
  readonly at: number
  /** when whoever listens should hear of it */
  readonly announceAt: number
}

type Subject = Pick<EnvironmentRecord, 'policy' | 'status' | 'createdAt'>

/** Enough to do something about it, but no more than a part of the time that it had. */
const longestNoticeMs = 60_000
const noticePart = 10

/** The first thing that falls due if nobody uses it from now on; `usedAt`: when somebody last did. */
export function nextDue(subject: Subject, usedAt: number | null): Due | null {
  const dues = [ttlDue(subject), idleDue(subject, usedAt)].filter((due) => due !== null)
  return dues.toSorted((a, b) => a.at - b.at)[0] ?? null
}

/** When its time to live ends; null: never. */
export function expiresAt({ policy, createdAt }: Subject): number | null {
  return policy?.ttlMs === undefined ? null : (policy.since ?? createdAt) + policy.ttlMs
}

function ttlDue(subject: Subject): Due | null {
  const at = expiresAt(subject)
  const { ttlMs = 0, ttlAction: action = 'remove' } = subject.policy ?? {}
  if (at === null || !statusesFor(action).has(subject.status)) return null
  return { cause: 'ttl', action, at, announceAt: at - notice(ttlMs) }
}

/** What its idle policy will do; null: nothing, in this status. */
export function idleDue({ policy, status, createdAt }: Subject, usedAt: number | null): Due | null {
  const idle = policy?.idle
  if (idle === undefined) return null
  if (!statusesFor(idle.action).has(status)) return null
  const at = Math.max(createdAt, policy?.since ?? 0, usedAt ?? 0) + idle.afterMs
  return { cause: 'idle', action: idle.action, at, announceAt: at - notice(idle.afterMs) }
}

/** Only what runs can be sent to sleep. Whoever paused it by hand has decided already. */
const sleeps: ReadonlySet<EnvironmentStatus> = new Set(['running'])
const ends: ReadonlySet<EnvironmentStatus> = new Set(['running', 'paused', 'released', 'dead'])

function statusesFor(action: IdleAction): ReadonlySet<EnvironmentStatus> {
  return action === 'remove' ? ends : sleeps
}

function notice(durationMs: number): number {
  return Math.min(longestNoticeMs, durationMs / noticePart)
}
