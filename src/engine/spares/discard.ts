import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../../linux/process-identity.ts'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
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
  if (spare.kind === 'fork') await engine.backend('native').destroy(spare.environmentId)
  engine.store.spares.remove(spare.id)
}

/** Ends one that nobody else can take any more. */
export async function endSpare(
  engine: Engine,
  { kind, environmentId, instance }: Pick<OwnedSpare, 'kind' | 'environmentId' | 'instance'>,
): Promise<void> {
  const backend = engine.backend('native')
  if (kind === 'fork') await backend.destroy(environmentId)
  else if (instance) await backend.end(environmentId, instance)
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
