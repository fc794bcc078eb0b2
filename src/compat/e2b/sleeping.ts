import type { Environment } from '../../api/handles/environment.ts'
import { gone } from './failures.ts'

/** Using a sandbox that sleeps wakes it, if it may be woken. Any other that does not run is gone. */
export function requireAwake(sandbox: Environment): Environment {
  const { status, policy } = sandbox.lastInfo
  const isAsleep = status === 'paused' || status === 'released'
  if (status === 'running' || (isAsleep && policy.wake === 'always')) return sandbox
  throw gone(sandbox.id)
}
