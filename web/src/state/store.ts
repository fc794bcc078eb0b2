import { useSyncExternalStore } from 'react'

/** A value that components follow. */
export interface Store<T> {
  get(): T
  set(next: T): void
  /** Calls back after each change, until the returned function is called. */
  subscribe(changed: () => void): () => void
}

export function createStore<T>(first: T): Store<T> {
  let value = first
  const followers = new Set<() => void>()
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(value, next)) return
      value = next
      for (const changed of followers) changed()
    },
    subscribe: (changed) => {
      followers.add(changed)
      return () => followers.delete(changed)
    },
  }
}

/** Only the reading side. */
export type Followed<T> = Pick<Store<T>, 'get' | 'subscribe'>

export function useStore<T>(store: Followed<T>): T {
  return useSyncExternalStore(store.subscribe, store.get)
}
