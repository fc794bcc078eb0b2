import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { EnvironmentId } from '../../model/ids.ts'
import { notRunning } from '../../model/not-running.ts'
import type { Engine } from '../engine.ts'
import { wake, wakesOnAccess } from '../policies/wake.ts'
import { type LiveRecord, liveRecord } from '../recovery/liveness.ts'
import { settled } from '../recovery/settled.ts'

const mostTries = 20
const pauseMs = 10

/** Whoever uses an environment wakes it and keeps it awake; whoever watches does neither. */
export type Purpose = 'use' | 'watch'

/** A connection to the agent of an environment's current life. */
export async function agentTransport(
  engine: Engine,
  id: EnvironmentId,
  purpose: Purpose = 'use',
): Promise<Duplex> {
  for (let tries = 1; ; tries += 1) {
    const record = await reachable(engine, id, purpose)
    try {
      const transport = await engine.backend(record.backend).connect(record)
      engine.transports.add(id, transport, purpose)
      if (purpose === 'use') engine.activity.touch(id)
      return transport
    } catch (error) {
      const { instance } = await reachable(engine, id, purpose)
      // If the life was exchanged in between, its successor listens somewhere else.
      const isExchanged = !isDeepStrictEqual(instance, record.instance)
      if (!isExchanged || tries === mostTries) throw error
      await sleep(pauseMs)
    }
  }
}

async function reachable(engine: Engine, id: EnvironmentId, purpose: Purpose): Promise<LiveRecord> {
  await settled(engine, id)
  const wakes = purpose === 'use' && wakesOnAccess(engine.store.environments.resolve(id))
  if (wakes) await wake(engine, id)
  const record = await liveRecord(engine, id)
  if (record.status === 'paused') throw notRunning(record)
  return record
}
