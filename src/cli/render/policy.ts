import type { PolicyInfo } from '../../index.ts'
import { formatIdle, type WakeMode } from '../../model/policy.ts'
import { formatDuration } from '../../model/values/quantities.ts'

/** What will happen to an environment by itself, and when. */
export function policyFacts(policy: PolicyInfo, nowMs: number): [string, string][] {
  const { ttlMs, idle, wake, expiresAt, idleAt } = policy
  return [
    [
      'time to live',
      ttlMs === null ? 'none' : `${formatDuration(ttlMs)}${inTime(expiresAt, nowMs)}`,
    ],
    ['when idle', idle === null ? 'nothing' : `${formatIdle(idle)}${inTime(idleAt, nowMs)}`],
    ['wakes', wakings[wake]],
  ]
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
