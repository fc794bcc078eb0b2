import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../../linux/process-identity.ts'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { OwnedSpare, SpareFilter } from '../../store/spares.ts'
import type { Engine } from '../engine.ts'

/** Longer than making one takes, also on a busy machine. */
const longestMs = 30_000
const lookEveryMs = 5

/** Ends prepared branches, whoever made them; resolves when they are gone. */
export async function discardSpares(engine: Engine, which: SpareFilter = {}): Promise<void> {
  for (const spare of engine.store.spares.list(which)) await discardSpare(engine, spare)
}

export async function discardSpare(engine: Engine, spare: OwnedSpare): Promise<void> {
  const { spares } = engine.store
  const taken = spares.take({ id: spare.id })
  if (taken) return await endSpare(engine, taken)
  spares.refuse(spare.id)
  const deadline = Date.now() + longestMs
  while (spares.get(spare.id) !== undefined) {
    if (!isAlive(spare.owner) || Date.now() > deadline) return await forget(engine, spare)
    await sleep(lookEveryMs)
  }
}

/** Those of processes that were killed. */
export async function discardAbandoned(engine: Engine): Promise<void> {
  for (const spare of engine.store.spares.abandoned()) await discardSpare(engine, spare)
}

/** Whoever was making it is dead: what it left of a restore is found as a life nobody knows. */
async function forget(engine: Engine, spare: OwnedSpare): Promise<void> {
  if (spare.kind === 'fork') await destroyEverywhere(engine, spare.environmentId)
  engine.store.spares.remove(spare.id)
}

/** Ends one that nobody else can take any more. */
export async function endSpare(
  engine: Engine,
  { kind, environmentId, instance }: Pick<OwnedSpare, 'kind' | 'environmentId' | 'instance'>,
): Promise<void> {
  if (kind === 'fork') return await destroyEverywhere(engine, environmentId)
  if (!instance) return
  const record = engine.store.environments.get(environmentId)
  const backends = record ? [engine.backend(record.backend)] : engine.backends()
  for (const backend of backends) await backend.end(environmentId, instance)
}

/** What was prepared for a fork has no record that would say which backend has it. */
async function destroyEverywhere(engine: Engine, id: EnvironmentId): Promise<void> {
  for (const backend of engine.backends()) await backend.destroy(id)
}

/** Ends every life of an environment but one, and what was prepared for it. */
export async function retire(
  engine: Engine,
  { id, backend }: Pick<EnvironmentRecord, 'id' | 'backend'>,
  keep: Instance | null,
): Promise<void> {
  await discardSpares(engine, { environmentId: id })
  await engine.backend(backend).retire(id, keep)
}
