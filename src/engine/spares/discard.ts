import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../../linux/process-identity.ts'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { OwnedSpare, SpareFilter } from '../../store/spares.ts'
import type { Engine } from '../engine.ts'
import { enoughFor } from './wants.ts'

/** Longer than it takes to make one, even on a busy machine. */
const patienceMs = 30_000
const pollMs = 5

/** Ends spares, whichever process made them; resolves when they are gone. */
export async function discardSpares(engine: Engine, which: SpareFilter = {}): Promise<void> {
  for (const spare of engine.store.spares.list(which)) await discardSpare(engine, spare)
}

export async function discardSpare(engine: Engine, spare: OwnedSpare): Promise<void> {
  const { spares } = engine.store
  const taken = spares.take({ id: spare.id })
  if (taken) return await endSpare(engine, taken)
  spares.cancel(spare.id)
  const deadline = Date.now() + patienceMs
  while (spares.get(spare.id) !== undefined) {
    if (!isAlive(spare.owner) || Date.now() > deadline) return await forget(engine, spare)
    await sleep(pollMs)
  }
}

export interface GiveUp {
  /** how much memory is needed for something that was asked for */
  readonly bytes: number
  /** those that are wanted for the same */
  readonly keep?: SpareFilter | undefined
}

/** Ends spares that are ready, the oldest first, until enough memory is free; none if all are not enough. */
export async function giveUpSpares(engine: Engine, { bytes, keep }: GiveUp): Promise<void> {
  const { spares } = engine.store
  const kept = new Set(keep && spares.list(keep).map(({ id }) => id))
  const ready = spares.list().filter(({ id, state }) => state === 'ready' && !kept.has(id))
  for (const spare of enoughFor(bytes, ready)) await discardSpare(engine, spare)
}

/** Ends the spares of processes that were killed. */
export async function discardAbandoned(engine: Engine): Promise<void> {
  for (const spare of engine.store.spares.abandoned()) await discardSpare(engine, spare)
}

/** Its maker is dead or stuck. What is left of a spare for a restore is found later, as a life without a record. */
async function forget(engine: Engine, spare: OwnedSpare): Promise<void> {
  if (spare.kind === 'fork') await destroyEverywhere(engine, spare.environmentId)
  engine.store.spares.remove(spare.id)
}

/** Ends a spare that nobody else can take anymore. */
export async function endSpare(
  engine: Engine,
  { kind, environmentId, instance }: Pick<OwnedSpare, 'kind' | 'environmentId' | 'instance'>,
): Promise<void> {
  if (kind === 'fork') return await destroyEverywhere(engine, environmentId)
  if (!instance) return
  const record = engine.store.environments.get(environmentId)
  const backends = record ? [engine.backend(record.backend)] : engine.backends()
  for (const backend of backends) await backend.end({ id: environmentId, instance })
}

/** A spare for a fork has no record that says which backend it belongs to. */
async function destroyEverywhere(engine: Engine, id: EnvironmentId): Promise<void> {
  for (const backend of engine.backends()) if (backend.spares) await backend.destroy(id)
}

/** Ends every life of an environment except one, and its spares. */
export async function retire(
  engine: Engine,
  { id, backend }: Pick<EnvironmentRecord, 'id' | 'backend'>,
  keep: Instance | null,
): Promise<void> {
  await discardSpares(engine, { environmentId: id })
  await engine.backend(backend).retire(id, keep)
}
