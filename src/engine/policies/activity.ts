import type { EnvironmentId } from '../../model/ids.ts'
import type { Engine } from '../engine.ts'

/** Notes when callers use environments that have an idle policy. */
export interface Activity {
  /** A caller uses it now. One that sleeps is not woken by that. */
  touch(id: EnvironmentId): void
  close(): void
}

/** How often traffic is looked at, and how often a time is written at most. */
const periodMs = 1000

export function activity(engine: () => Engine): Activity {
  const written = new Map<EnvironmentId, number>()
  const waiting = new Map<EnvironmentId, number>()
  let timer: NodeJS.Timeout | undefined

  const write = (id: EnvironmentId, at: number): void => {
    const { store, log } = engine()
    waiting.delete(id)
    written.set(id, at)
    try {
      const record = store.environments.get(id)
      if (record?.status !== 'running') return
      if (record.policy?.idle !== undefined || record.sleptAt) store.activity.note(id, at)
    } catch (err) {
      // The store is busy. The next use writes it.
      log.debug({ environment: id, err }, 'cannot note that an environment is used')
    }
  }
  const touch = (id: EnvironmentId): void => {
    const now = Date.now()
    timer ??= setInterval(look, periodMs).unref()
    if (now - (written.get(id) ?? 0) < periodMs) waiting.set(id, now)
    else write(id, now)
  }
  const look = (): void => {
    for (const id of engine().transports.used()) touch(id)
    for (const [id, at] of [...waiting]) write(id, at)
    // What was written longer ago holds nothing back, and its environment may be gone.
    const since = Date.now() - periodMs
    for (const [id, at] of [...written]) if (at <= since) written.delete(id)
  }
  return {
    touch,
    close: () => {
      clearInterval(timer)
      look()
      clearInterval(timer)
    },
  }
}
