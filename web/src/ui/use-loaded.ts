import { useCallback, useEffect, useRef, useState } from 'react'

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'ready'; readonly value: T }
  | { readonly state: 'failed'; readonly error: unknown }

export interface Loading<T> {
  readonly loaded: Loaded<T>
  /** Loads it again; what is there stays until then. */
  reload(): void
}

/** What `load` resolves to, loaded again whenever `key` changes. An answer that comes too late is dropped. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loading<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' })
  const [round, setRound] = useState(0)
  const latest = useRef(load)
  latest.current = load
  const shownKey = useRef(key)
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    if (shownKey.current !== key) setLoaded({ state: 'loading' })
    shownKey.current = key
    // Read, so that another round loads again.
    void round
    latest.current(signal).then(
      (value) => {
        if (!signal.aborted) setLoaded({ state: 'ready', value })
      },
      (error: unknown) => {
        if (!signal.aborted) setLoaded({ state: 'failed', error })
      },
    )
    return () => leaving.abort()
  }, [key, round])
  return { loaded, reload: useCallback(() => setRound((before) => before + 1), []) }
}
