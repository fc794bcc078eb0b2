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

/** A connection to the agent of an environment's current life. */
export async function agentTransport(engine: Engine, id: EnvironmentId): Promise<Duplex> {
  for (let tries = 1; ; tries += 1) {
    const record = await reachable(engine, id)
    try {
      const transport = await engine.backend(record.backend).connect(record)
      engine.transports.add(id, transport)
      engine.activity.touch(id)
      return transport
    } catch (error) {
      const { instance } = await reachable(engine, id)
      // If the life was exchanged in between, its successor listens somewhere else.
      const isExchanged = !isDeepStrictEqual(instance, record.instance)
      if (!isExchanged || tries === mostTries) throw error
      await sleep(pauseMs)
    }
  }
}

async function reachable(engine: Engine, id: EnvironmentId): Promise<LiveRecord> {
  await settled(engine, id)
  if (wakesOnAccess(engine.store.environments.resolve(id))) await wake(engine, id)
  const record = await liveRecord(engine, id)
  if (record.status === 'paused') throw notRunning(record)
  return record
}
