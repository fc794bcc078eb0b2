import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import { ConflictError } from '../../model/errors.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Engine } from '../engine.ts'

/** Notes which environments have died since somebody looked. */
export function markDead(engine: Engine): void {
  const alive = engine.store.environments.list({ status: ['running', 'paused'] })
  for (const seen of alive) noteDeath(engine, seen)
}

/** By id, name or unique beginning of an id; if it has died, that is noted. */
export function currentRecord(engine: Engine, reference: string): EnvironmentRecord {
  const seen = engine.store.environments.resolve(reference)
  return noteDeath(engine, seen) ?? seen
}

function noteDeath(engine: Engine, seen: EnvironmentRecord): EnvironmentRecord | undefined {
  if (!hasDied(engine, seen)) return undefined
  const { environments, transaction } = engine.store
  // Another process may have changed or removed it meanwhile.
  return transaction(() => {
    const record = environments.get(seen.id)
    if (!record || !hasDied(engine, record)) return record
    return environments.update(record.id, { status: 'dead' })
  })
}

export type LiveRecord = EnvironmentRecord & { readonly instance: Instance }

/** The record of an environment that exists and whose processes do. */
export function liveRecord(engine: Engine, id: EnvironmentId): LiveRecord {
  const record = engine.store.environments.resolve(id)
  const status = hasDied(engine, record) ? 'dead' : record.status
  const { instance } = record
  if (instance && (status === 'running' || status === 'paused')) return { ...record, instance }
  const name = record.name ?? id
  const revivable = status === 'released' || (status === 'dead' && record.head !== null)
  const removable = status === 'dead' ? `remove it with \`forkpoint rm ${name}\`` : 'try again'
  throw new ConflictError(`environment ${name} is ${status}`, {
    remedy: revivable ? `bring it back with \`forkpoint resume ${name}\`` : removable,
  })
}

function hasDied(engine: Engine, { backend, instance, status }: EnvironmentRecord): boolean {
  if (status !== 'running' && status !== 'paused') return false
  return instance === null || !engine.backend(backend).isAlive(instance)
}
