import { setTimeout as sleep } from 'node:timers/promises'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Engine } from '../engine.ts'
import { rewriteLayers, squashLease } from './compact.ts'

/** Long chains of layers made shorter, after the call that made them longer has returned. */
export interface Squashes {
  /** Begins if it is due; what is left undone is due again after the next snapshot. */
  start(snapshot: SnapshotRecord): void
  /** Gives up what is under way. */
  stop(): Promise<void>
  /** Waits long only where a chain has become too long to be left to the next process. */
  close(): Promise<void>
}

interface Running {
  readonly work: Promise<void>
  readonly due: 'due' | 'overdue'
  readonly abort: AbortController
}

/** What a command may take longer, every sixteenth snapshot: small layers are merged by then. */
const mostWaitMs = 200

export function squashes(engine: () => Engine): Squashes {
  let running: Running | null = null
  const stop = async () => {
    running?.abort.abort()
    await running?.work
  }
  return {
    start: (snapshot) => {
      const due = engine().backend(snapshot.backend).squashDue(snapshot)
      if (due === 'no' || running !== null) return
      const abort = new AbortController()
      // A failure leaves everything as it was: the layers are more than they need be, and right.
      const work = squash(engine(), snapshot.id, abort.signal)
        .catch(() => {})
        .finally(() => {
          running = null
        })
      running = { work, due, abort }
    },
    stop,
    close: async () => {
      if (running?.due === 'overdue') await running.work
      if (running !== null)
        await Promise.race([running.work, sleep(mostWaitMs, undefined, { ref: false })])
      await stop()
    },
  }
}

async function squash(engine: Engine, id: SnapshotId, signal: AbortSignal): Promise<void> {
  using held = engine.store.leases.tryAcquire(squashLease, 'squashing layers')
  if (!held) return
  await rewriteLayers(engine, id, (backend, snapshot) => backend.squash(snapshot, signal))
}
