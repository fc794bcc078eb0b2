import { createStore, type Followed } from '../state/store.ts'

/** What is typed goes to the terminal that has the focus, or to all that are not only watched. */
export type TypeInto = 'one' | 'all'

/** The terminals on the page that can be typed into, by the environment they are in. */
export interface Receivers {
  readonly ids: Followed<ReadonlySet<string>>
  /** Until the returned function is called. */
  add(id: string, send: (data: string) => void): () => void
  sendAll(data: string): void
}

export function createReceivers(): Receivers {
  const ids = createStore<ReadonlySet<string>>(new Set())
  const open = new Map<string, (data: string) => void>()
  const changed = () => ids.set(new Set(open.keys()))
  return {
    ids,
    add: (id, send) => {
      open.set(id, send)
      changed()
      return () => {
        open.delete(id)
        changed()
      }
    },
    sendAll: (data) => {
      for (const send of open.values()) send(data)
    },
  }
}
