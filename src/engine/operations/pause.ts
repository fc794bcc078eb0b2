import type { EnvironmentRecord } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Engine } from '../engine.ts'
import { liveRecord } from '../recovery/liveness.ts'
import { hold } from '../recovery/recover.ts'

export interface PauseOptions {
  /** keeps only a snapshot, and gives back the memory */
  readonly release?: boolean
}

/** Freezes every process of an environment. Pausing a paused one changes nothing. */
export function pause(engine: Engine, id: EnvironmentId): Promise<EnvironmentRecord> {
  return change(engine, id, 'pause', 'paused')
}

export function resume(engine: Engine, id: EnvironmentId): Promise<EnvironmentRecord> {
  return change(engine, id, 'resume', 'running')
}

async function change(
  engine: Engine,
  id: EnvironmentId,
  kind: 'pause' | 'resume',
  status: 'paused' | 'running',
): Promise<EnvironmentRecord> {
  const { store } = engine
  await using lease = await hold(engine, id, kind)
  const record = liveRecord(engine, id)
  if (record.status === status) return record
  const backend = engine.backend(record.backend)
  const operation = store.journal.begin(kind, id)
  try {
    await backend[kind](id, record.instance)
  } catch (error) {
    store.journal.fail(operation, error)
    throw error
  }
  return store.transaction(() => {
    lease.requireHeld()
    store.journal.finish(operation)
    return store.environments.update(id, { status })
  })
}
