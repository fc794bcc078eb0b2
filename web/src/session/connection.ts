import { createStore, type Followed } from '../state/store.ts'

/** `lost`: the daemon does not answer. `refused`: it does, but not to this token. */
export type ConnectionState = 'connected' | 'lost' | 'refused'

export interface Connection {
  readonly state: Followed<ConnectionState>
  /** `fetch` for the client; every request of the page tells how the daemon is. */
  readonly fetch: typeof fetch
}

const unauthorized = 401

export function watchConnection(): Connection {
  const state = createStore<ConnectionState>('connected')
  return {
    state,
    fetch: async (input, init) => {
      try {
        const answer = await fetch(input, init)
        state.set(answer.status === unauthorized ? 'refused' : 'connected')
        return answer
      } catch (error) {
        // Whoever aborts a request says nothing about the daemon.
        if (!init?.signal?.aborted && state.get() !== 'refused') state.set('lost')
        throw error
      }
    },
  }
}
