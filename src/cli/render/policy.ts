import type { PolicyInfo } from '../../index.ts'
import { formatIdle, type IdleAction, type WakeMode } from '../../model/policy.ts'
import { formatDuration } from '../../model/values/quantities.ts'

/** What will happen to an environment by itself, and when. */
export function policyFacts(policy: PolicyInfo, nowMs: number): [string, string][] {
  const { ttlMs, ttlAction, idle, wake, expiresAt, idleAt } = policy
  return [
    [
      'time to live',
      ttlMs === null
        ? 'none'
        : `${thenSleeps(ttlAction)}${formatDuration(ttlMs)}${inTime(expiresAt, nowMs)}`,
    ],
    ['when idle', idle === null ? 'nothing' : `${formatIdle(idle)}${inTime(idleAt, nowMs)}`],
    ['wakes', wakings[wake]],
  ]
}

/** Removing it is what everybody expects. */
function thenSleeps(action: IdleAction): string {
  return action === 'remove' ? '' : `${action} after `
}

function inTime(at: number | null, nowMs: number): string {
  if (at === null) return ''
  return at <= nowMs ? ', which is due now' : `, which is in ${formatDuration(at - nowMs)}`
}

const wakings: Record<WakeMode, string> = {
  idle: 'when it is used, if its idle policy sent it to sleep',
  always: 'when it is used',
  never: 'only with `forkpoint resume`',
}
