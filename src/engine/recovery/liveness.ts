import { isDeepStrictEqual } from 'node:util'
import type { EnvironmentRecord, Instance } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import { notRunning } from '../../model/not-running.ts'
import type { Engine } from '../engine.ts'
import { unlessUnreachable } from './unreachable.ts'

export type LiveRecord = EnvironmentRecord & { readonly instance: Instance }

/** Marks the environments that have died since the last check. */
export async function markDead(engine: Engine): Promise<void> {
  const { environments } = engine.store
  await markDeaths(engine, environments.list({ status: ['running', 'paused'] }))
}

/** By id, name or unique prefix of an id. Marks it if it has died. */
export async function currentRecord(engine: Engine, reference: string): Promise<EnvironmentRecord> {
  const seen = engine.store.environments.resolve(reference)
  const [died] = await markDeaths(engine, [seen])
  return died ?? seen
}

/** Marks those that have died, and returns their current records. */
async function markDeaths(
  engine: Engine,
  seen: readonly EnvironmentRecord[],
): Promise<EnvironmentRecord[]> {
  const died = await findDead(engine, seen)
  if (died.length === 0) return []
  const { environments, transaction } = engine.store
  return transaction(() =>
    died.flatMap((before) => {
      const record = environments.get(before.id)
      // Another process may have changed or removed it meanwhile.
      if (!record || !isDeepStrictEqual(record.instance, before.instance)) return record ?? []
      return isRecordedAlive(record) ? environments.update(record.id, { status: 'dead' }) : record
    }),
  )
}

/** Asks each backend once, however many environments it has. */
async function findDead(
  engine: Engine,
  records: readonly EnvironmentRecord[],
): Promise<EnvironmentRecord[]> {
  const suspects = records.filter(isRecordedAlive)
  const byBackend = Map.groupBy(suspects.filter(hasInstance), ({ backend }) => backend)
  const alive = new Set<EnvironmentId>()
  for (const [name, refs] of byBackend) {
    const all = new Set(refs.map(({ id }) => id))
    const found = await unlessUnreachable(engine, all, () => engine.backend(name).alive(refs))
    for (const id of found) alive.add(id)
  }
  return suspects.filter(({ id }) => !alive.has(id))
}

/** The record of an environment whose processes are alive; throws for any other. */
export async function liveRecord(engine: Engine, id: EnvironmentId): Promise<LiveRecord> {
  const record = engine.store.environments.resolve(id)
  const [died] = await findDead(engine, [record])
  if (died === undefined && isRecordedAlive(record) && hasInstance(record)) return record
  throw notRunning({ ...record, status: died === undefined ? record.status : 'dead' })
}

function isRecordedAlive({ status }: EnvironmentRecord): boolean {
  return status === 'running' || status === 'paused'
}

function hasInstance(record: EnvironmentRecord): record is LiveRecord {
  return record.instance !== null
}
