import type { EnvironmentRecord } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Cause } from '../../model/policy.ts'
import { requireFacet, requireOfLife } from '../capabilities.ts'
import type { Engine } from '../engine.ts'
import { noteCommands } from '../history/command-log.ts'
import { liveRecord } from '../recovery/liveness.ts'
import { hold } from '../recovery/recover.ts'

/** Freezes every process of an environment. Pausing a paused one changes nothing. */
export function pause(
  engine: Engine,
  id: EnvironmentId,
  { cause }: CauseOptions = {},
): Promise<EnvironmentRecord> {
  const after = { status: 'paused', sleptAt: sleptNow(cause) } as const
  return change(engine, id, { kind: 'pause', cause, after })
}

export function resume(
  engine: Engine,
  id: EnvironmentId,
  { cause }: CauseOptions = {},
): Promise<EnvironmentRecord> {
  return change(engine, id, { kind: 'resume', cause, after: { status: 'running', sleptAt: null } })
}

export interface CauseOptions {
  /** absent: a caller asked for it */
  readonly cause?: Cause | undefined
}

/** Since when it sleeps, if its own policy sent it to sleep. */
export function sleptNow(cause: Cause | undefined): number | null {
  return cause === 'idle' || cause === 'ttl' ? Date.now() : null
}

interface Change extends CauseOptions {
  readonly kind: 'pause' | 'resume'
  readonly after: Required<Pick<EnvironmentRecord, 'status' | 'sleptAt'>>
}

async function change(
  engine: Engine,
  id: EnvironmentId,
  { kind, cause, after }: Change,
): Promise<EnvironmentRecord> {
  const { store } = engine
  await using lease = await hold(engine, id, kind)
  const record = await liveRecord(engine, id)
  if (record.status === after.status) return record
  const backend = engine.backend(record.backend)
  requireOfLife(backend, record.instance, 'pause')
  const pausing = requireFacet(backend, 'pausing')
  await noteCommands(engine, record)
  const operation = store.journal.begin(kind, id, cause && { cause })
  try {
    await pausing[kind](record)
  } catch (error) {
    store.journal.fail(operation, error)
    throw error
  }
  return store.transaction(() => {
    lease.requireHeld()
    store.journal.finish(operation)
    return store.environments.update(id, after)
  })
}
