import type { Input } from '../../api/contract/contract.ts'
import type { Backend } from '../../backends/backend.ts'
import type { EnvironmentRecord } from '../../model/environment.ts'
import type { Policy } from '../../model/policy.ts'
import { withoutUndefined } from '../../model/values/without-undefined.ts'
import { requireCapability, requireOfLife } from '../capabilities.ts'
import type { Engine } from '../engine.ts'
import { hold } from '../recovery/recover.ts'

/** Changes what is given; null takes a policy away. A time to live begins again. */
export async function setPolicy(
  engine: Engine,
  { id, ...changes }: Input<'environment.policy'>,
): Promise<EnvironmentRecord> {
  const { store } = engine
  await using lease = await hold(engine, id, 'policy')
  const record = store.environments.resolve(id)
  const policy = changed(record.policy ?? { wake: engine.settings.wake }, changes)
  const backend = engine.backend(record.backend)
  requireForSleep(policy, (capability) => requireOfLife(backend, record.instance, capability))
  const operation = store.journal.begin('policy', id)
  return store.transaction(() => {
    lease.requireHeld()
    store.journal.finish(operation)
    return store.environments.update(id, { policy })
  })
}

type Changes = Omit<Input<'environment.policy'>, 'id'>

function changed(before: Policy, { ttlMs, ttlAction, idle, wake }: Changes): Policy {
  const { ttlMs: _ttl, idle: _idle, ...rest } = before
  return {
    ...rest,
    wake: wake ?? before.wake,
    since: Date.now(),
    ...withoutUndefined({
      ttlMs: ttlMs === undefined ? before.ttlMs : (ttlMs ?? undefined),
      ttlAction: ttlAction ?? before.ttlAction,
      idle: idle === undefined ? before.idle : (idle ?? undefined),
    }),
  }
}

/** The policy of a new environment. */
export function policyFor(
  engine: Engine,
  backend: Backend,
  { ttlMs, ttlAction, idle, wake = engine.settings.wake }: Partial<Policy>,
): Policy {
  const policy = { wake, ...withoutUndefined({ ttlMs, ttlAction, idle }) }
  requireForSleep(policy, (capability) => requireCapability(backend, capability))
  return policy
}

/** One that went to sleep when its time was over has all of it again. */
export function renewed(
  { store }: Pick<Engine, 'store'>,
  record: EnvironmentRecord,
): EnvironmentRecord {
  const { policy } = record
  if (policy?.ttlMs === undefined || (policy.ttlAction ?? 'remove') === 'remove') return record
  return store.environments.update(record.id, { policy: { ...policy, since: Date.now() } })
}

function requireForSleep(
  { ttlAction, idle }: Policy,
  need: (capability: 'pause' | 'processes') => void,
): void {
  for (const action of [ttlAction, idle?.action]) {
    if (action === 'pause') need('pause')
    if (action === 'release') need('processes')
  }
}
