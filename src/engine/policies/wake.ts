import type { EnvironmentRecord } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import { notRunning } from '../../model/not-running.ts'
import type { Engine } from '../engine.ts'
import { resume } from '../operations/pause.ts'
import { revive } from '../operations/restore.ts'
import { currentRecord } from '../recovery/liveness.ts'
import { renewed } from './set-policy.ts'

/** Whether it sleeps, and somebody who uses it brings it back. */
export function wakesOnAccess({ status, policy, sleptAt }: EnvironmentRecord): boolean {
  if (status !== 'paused' && status !== 'released') return false
  const mode = policy?.wake ?? 'idle'
  return mode === 'always' || (mode === 'idle' && (sleptAt ?? null) !== null)
}

/**
 * The record of an environment that somebody wants to use, running. Of several callers, one wakes it: the
 * others wait for its lease and find it running.
 */
export async function wake(engine: Engine, id: EnvironmentId): Promise<EnvironmentRecord> {
  const record = await currentRecord(engine, id)
  if (record.status === 'running') return record
  if (!wakesOnAccess(record)) throw notRunning(record)
  const bringBack = record.status === 'released' ? revive : resume
  const woken = await bringBack(engine, id, { cause: 'access' })
  engine.activity.touch(id)
  return renewed(engine, woken)
}
