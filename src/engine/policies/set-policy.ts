import type { Input } from '../../api/contract/contract.ts'
import type { Backend } from '../../backends/backend.ts'
import type { EnvironmentRecord } from '../../model/environment.ts'
import type { IdlePolicy, Policy } from '../../model/policy.ts'
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
  requireForIdle(policy.idle, (capability) => requireOfLife(backend, record.instance, capability))
  const operation = store.journal.begin('policy', id)
  return store.transaction(() => {
    lease.requireHeld()
    store.journal.finish(operation)
    return store.environments.update(id, { policy })
  })
}

type Changes = Omit<Input<'environment.policy'>, 'id'>

function changed(before: Policy, { ttlMs, idle, wake }: Changes): Policy {
  const { ttlMs: _ttl, idle: _idle, ...rest } = before
  return {
    ...rest,
    wake: wake ?? before.wake,
    since: Date.now(),
    ...withoutUndefined({
      ttlMs: ttlMs === undefined ? before.ttlMs : (ttlMs ?? undefined),
      idle: idle === undefined ? before.idle : (idle ?? undefined),
    }),
  }
}

/** The policy of a new environment. */
export function policyFor(
  engine: Engine,
  backend: Backend,
  { ttlMs, idle, wake = engine.settings.wake }: Partial<Policy>,
): Policy {
  requireForIdle(idle, (capability) => requireCapability(backend, capability))
  return { wake, ...withoutUndefined({ ttlMs, idle }) }
}

function requireForIdle(
  idle: IdlePolicy | undefined,
  need: (capability: 'pause' | 'processes') => void,
): void {
  if (idle?.action === 'pause') need('pause')
  if (idle?.action === 'release') need('processes')
}
