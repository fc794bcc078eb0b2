import type { RunningOperation } from '../../api/contract/data/store.ts'
import type { Operation } from '../../store/journal.ts'
import type { Engine } from '../engine.ts'

/** The operations that have not ended, and how far those are that write much. */
export async function runningOperations(engine: Engine): Promise<RunningOperation[]> {
  const open = engine.store.journal.open()
  return await Promise.all(
    open.map(async (operation) => {
      const { id, kind, environmentId: environment, startedAt } = operation
      const progress = await progressOf(engine, operation)
      return { id, kind, environment, startedAt, ...progress }
    }),
  )
}

/** What a snapshot has written of its processes, and the memory that they have, which is the most it can be. */
async function progressOf(
  engine: Engine,
  { environmentId, payload }: Operation,
): Promise<Pick<RunningOperation, 'writtenBytes' | 'mostBytes'>> {
  const record = environmentId === null ? undefined : engine.store.environments.get(environmentId)
  if (payload.snapshot === undefined || !record?.instance) return {}
  const backend = engine.backend(record.backend)
  const writtenBytes = backend.storage?.writtenBytes?.(payload.snapshot)
  if (writtenBytes === undefined) return {}
  const { id, instance } = record
  const stats = await backend.stats({ id, instance }, record.head).catch(() => null)
  return stats === null ? { writtenBytes } : { writtenBytes, mostBytes: stats.memory.totalBytes }
}
