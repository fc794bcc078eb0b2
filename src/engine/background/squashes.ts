import { setTimeout as sleep } from 'node:timers/promises'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Engine } from '../engine.ts'
import { rewriteLayers, squashLease } from './compact.ts'

/** Shortens long chains of layers after the call that made them longer has returned. */
export interface Squashes {
  /** Begins if it is due. If it does not finish, it is due again after the next snapshot. */
  start(snapshot: SnapshotRecord): void
  /** Aborts a squash that is running. */
  stop(): Promise<void>
  /** Waits for long only if a chain has become too long to leave to the next process. */
  close(): Promise<void>
}

interface Running {
  readonly work: Promise<void>
  readonly due: 'due' | 'overdue'
  readonly abort: AbortController
}

/** How much longer a command may take, every sixteenth snapshot: enough to squash small layers. */
const mostWaitMs = 200

export function squashes(engine: () => Engine): Squashes {
  let running: Running | null = null
  const stop = async () => {
    running?.abort.abort()
    await running?.work
  }
  return {
    start: (snapshot) => {
      const due = engine().backend(snapshot.backend).storage?.squashDue(snapshot) ?? 'no'
      if (due === 'no' || running !== null) return
      const abort = new AbortController()
      // A failure changes nothing: there are more layers than necessary, but they are right.
      const work = squash(engine(), snapshot.id, abort.signal)
        .catch((err) => {
          if (abort.signal.aborted) return
          engine().log.warn({ err, snapshot: snapshot.id }, 'squashing failed')
        })
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
  await rewriteLayers(engine, id, (storage, snapshot) => storage.squash(snapshot, signal))
}
