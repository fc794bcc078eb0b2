import { type Client, ForkpointError, type Output } from 'forkpoint/client'
import type { ConnectionState } from '../session/connection.ts'
import { createStore, type Followed } from '../state/store.ts'
import { emptyForest, type Forest, growForest } from './forest.ts'

export type Operations = Output<'operations'>

/** What the page knows of the daemon's environments and snapshots. */
export interface Watched {
  /** `loading`: nothing is known yet; `failed`: the first load failed */
  readonly state: 'loading' | 'ready' | 'failed'
  readonly forest: Forest
  /** what is being done to environments now, by whomever */
  readonly operations: Operations
  readonly error: ForkpointError | null
}

export interface ForestWatch {
  readonly watched: Followed<Watched>
  /** Loads everything again. Resolves when it is there. */
  refresh(): Promise<void>
  /** Begins to follow the daemon, until the returned function is called. */
  start(): () => void
}

/** Many events come together, such as those of a fork of ten. */
const settleMs = 60
/** Beginnings are no events: what runs is asked for. */
const lookEveryMs = 2000
/** In case an event came between the first load and the first connection of the stream. */
const refreshEveryMs = 15_000
const retryMs = 1000

/** The tree, which is loaded again whenever something has happened. */
export function watchForest(client: Client, connection: Followed<ConnectionState>): ForestWatch {
  const store = createStore<Watched>({
    state: 'loading',
    forest: emptyForest,
    operations: [],
    error: null,
  })
  const load = async () => {
    try {
      const [list, operations] = await Promise.all([
        client.call('tree', {}),
        client.call('operations', {}),
      ])
      store.set({ state: 'ready', forest: growForest(list), operations, error: null })
    } catch (error) {
      const { state, ...known } = store.get()
      const next = state === 'ready' ? 'ready' : 'failed'
      store.set({ ...known, state: next, error: asError(error) })
    }
  }
  const refresh = coalesced(load)
  const look = async () => {
    const operations = await client.call('operations', {})
    if (isSame(operations, store.get().operations)) return
    store.set({ ...store.get(), operations })
  }
  const start = () => {
    const stopping = new AbortController()
    // If it fails, the next one follows, and the connection tells.
    const timers = [
      setInterval(() => void look().catch(() => {}), lookEveryMs),
      setInterval(() => void refresh(), refreshEveryMs),
    ]
    // What happened while the daemon was away, or was done by another one.
    const unfollow = connection.subscribe(() => {
      if (connection.get() === 'connected') void refresh()
    })
    void follow(client, stopping.signal, refresh)
    return () => {
      for (const timer of timers) clearInterval(timer)
      unfollow()
      stopping.abort()
    }
  }
  return { watched: store, refresh, start }
}

async function follow(
  client: Client,
  signal: AbortSignal,
  refresh: () => Promise<void>,
): Promise<void> {
  let last: number | undefined
  while (!signal.aborted) {
    try {
      void refresh()
      const after = last === undefined ? {} : { after: last }
      for await (const event of client.events({ signal, ...after })) {
        last = event.id
        setTimeout(() => void refresh(), settleMs)
      }
    } catch {
      // The connection shows that the daemon is away; it is asked again until it is back.
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
}

/** At most one runs, and whoever asks meanwhile gets one more after it. */
function coalesced(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  const start = () => {
    running = work().finally(() => {
      running = null
    })
    return running
  }
  return () => {
    if (running === null) return start()
    next ??= running.then(() => {
      next = null
      return start()
    })
    return next
  }
}

function isSame(a: Operations, b: Operations): boolean {
  return a.length === b.length && a.every(({ id }, index) => id === b[index]?.id)
}

function asError(error: unknown): ForkpointError {
  if (error instanceof ForkpointError) return error
  return new ForkpointError('internal', String(error), { remedy: 'reload the page' })
}
