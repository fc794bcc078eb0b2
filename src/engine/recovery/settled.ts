import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../../linux/process-identity.ts'
import { TimeoutError } from '../../model/errors.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Store } from '../../store/open-store.ts'
import type { Engine } from '../engine.ts'
import { hold } from './recover.ts'

/** Operations that replace an environment's life. */
const exchanges = new Set(['snapshot', 'release', 'restore', 'promote', 'resume'])

const patienceMs = 120_000

/**
 * Waits while an environment's life is being exchanged: the current one is about to be frozen, and
 * CRIU could not dump it with a connection open.
 */
export async function settled(engine: Engine, id: EnvironmentId): Promise<void> {
  await exchanged(engine.store, id)
  // A process that was killed during an exchange has left the agent frozen.
  if (engine.store.journal.abandoned(id).length === 0) return
  await using _lease = await hold(engine, id, 'recovering')
}

async function exchanged(store: Store, id: EnvironmentId): Promise<void> {
  const deadline = Date.now() + patienceMs
  for (;;) {
    const holder = store.leases.holder(`env:${id}`)
    if (!holder || !exchanges.has(holder.what) || !isAlive(holder.owner)) return
    if (Date.now() > deadline) {
      throw new TimeoutError(
        `environment ${id} is still busy (${holder.what}) after ${patienceMs} ms`,
        {
          remedy: `try again, or end process ${holder.owner.pid}`,
        },
      )
    }
    await sleep(3)
  }
}
