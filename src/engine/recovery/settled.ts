import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../../linux/process-identity.ts'
import { TimeoutError } from '../../model/errors.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Store } from '../../store/open-store.ts'
import type { Engine } from '../engine.ts'
import { hold } from './recover.ts'

/** Operations that put another instance in an environment's place. */
const exchanges = new Set(['snapshot', 'release', 'restore', 'promote', 'resume'])

const longestMs = 120_000

/**
 * Waits while an environment's instance is being exchanged: the one that is there now is about to be
 * frozen, and a connection to it would keep it from being dumped.
 */
export async function settled(engine: Engine, id: EnvironmentId): Promise<void> {
  await exchanged(engine.store, id)
  // A process that was killed in the middle of it has left the agent frozen.
  if (engine.store.journal.abandoned(id).length === 0) return
  await using _lease = await hold(engine, id, 'recovering')
}

async function exchanged(store: Store, id: EnvironmentId): Promise<void> {
  const deadline = Date.now() + longestMs
  for (;;) {
    const holder = store.leases.holder(`env:${id}`)
    if (!holder || !exchanges.has(holder.what) || !isAlive(holder.owner)) return
    if (Date.now() > deadline) {
      throw new TimeoutError(`environment ${id} is busy (${holder.what}) since ${longestMs} ms`)
    }
    await sleep(3)
  }
}
