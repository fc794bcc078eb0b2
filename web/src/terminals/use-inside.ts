import type { TerminalState } from 'forkpoint/client'
import { useCallback, useEffect, useState } from 'react'
import type { Session } from '../session/session.ts'

/** What of an environment can be shown. */
export interface InsideState {
  readonly terminals: readonly TerminalState[]
  readonly ports: readonly number[]
}

const nothing: InsideState = { terminals: [], ports: [] }
const everyMs = 2500

/** Looks again and again, while the page is looked at. */
export function useInside({ client, can }: Session, id: string, isRunning: boolean) {
  const [inside, setInside] = useState(nothing)
  const [round, setRound] = useState(0)
  useEffect(() => {
    if (!isRunning) return setInside(nothing)
    // Read, so that another round looks at once.
    void round
    const leaving = new AbortController()
    const { signal } = leaving
    const look = async () => {
      if (document.hidden) return
      const [terminals, ports] = await Promise.all([
        client.terminals(id, { signal }),
        can('exec') ? client.ports(id, { signal }) : [],
      ])
      const next = { terminals, ports }
      if (signal.aborted) return
      setInside((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next))
    }
    // It may be snapshotted or gone just now, and the daemon may be away; the next look tells.
    const tick = () => void look().catch(() => {})
    tick()
    const timer = setInterval(tick, everyMs)
    return () => {
      clearInterval(timer)
      leaving.abort()
    }
  }, [client, can, id, isRunning, round])
  return { inside, look: useCallback(() => setRound((before) => before + 1), []) }
}

const firstDesktop = 5900
const lastDesktop = 5909

/** VNC servers listen there, one for each display. */
export function isDesktop(port: number): boolean {
  return port >= firstDesktop && port <= lastDesktop
}

/** The first of `main`, `2`, `3`, … that is free. */
export function freeName(terminals: readonly { readonly name: string }[]): string {
  const taken = new Set(terminals.map(({ name }) => name))
  if (!taken.has(firstName)) return firstName
  let number = 2
  while (taken.has(String(number))) number += 1
  return String(number)
}

/** What `forkpoint shell` opens if nobody says otherwise. */
export const firstName = 'main'
