import type { Session } from '../session/session.ts'
import type { ScreenSize } from './screen.ts'
import { openSocket, pathInside } from './socket.ts'

/** `away`: the daemon does not answer, and is asked again. `ended`: the terminal is gone. */
export type ViewerState = 'opening' | 'open' | 'away' | 'ended'

export interface Viewer {
  send(data: string): void
  /** Changes the size of the terminal; if it is only watched, draws it again unless it has been drawn in that size. */
  resize(size: ScreenSize): void
  close(): void
}

interface ViewerOptions {
  readonly session: Session
  readonly id: string
  readonly name: string
  /** what is only watched is never started, and the daemon takes no key for it */
  readonly use: 'type' | 'watch'
  /** of the screen, for one that is typed into: the daemon draws it in this size */
  readonly size: ScreenSize
  onState(state: ViewerState): void
  /** The screen is about to be drawn again. */
  onReset(): void
  onData(data: Uint8Array): void
  /** The size of a terminal that is only watched, before it is drawn. */
  onSize(size: ScreenSize): void
}

const retryMs = 300
/** Before somebody is told that the daemon is away. */
const patienceMs = 500
/** A person types no more than this before a terminal is there. */
const mostEarly = 10_000
const encoder = new TextEncoder()

/** What the daemon sends in words: how large a terminal is. */
function sizeOf(text: string): ScreenSize {
  const { cols, rows } = JSON.parse(text) as Partial<ScreenSize>
  if (typeof cols === 'number' && typeof rows === 'number') return { cols, rows }
  throw new Error(`not the size of a terminal: ${text.slice(0, 80)}`)
}

/** Follows a terminal, also through a restart of the daemon. */
export function viewTerminal(options: ViewerOptions): Viewer {
  const { session, id, name, use, onState, onReset, onData, onSize } = options
  const leaving = new AbortController()
  const { signal } = leaving
  let socket: WebSocket | null = null
  /** What was typed before the terminal was there for the first time; null: it was. */
  let early: string | null = ''
  /** Of one that is watched, the daemon tells. */
  let size = use === 'type' ? options.size : null
  const sendSize = () => {
    const canSend = use === 'type' && socket?.readyState === WebSocket.OPEN
    if (canSend && size !== null) socket?.send(JSON.stringify(size))
  }
  const open = () => {
    if (signal.aborted) return
    const place = pathInside(id, 'terminals', name)
    const how = use === 'watch' || size === null ? '/watch' : `?cols=${size.cols}&rows=${size.rows}`
    const next = openSocket(session, `${place}${how}`)
    socket = next
    let isOpened = false
    next.onopen = () => {
      isOpened = true
      onReset()
      onState('open')
      sendSize()
      if (early) next.send(encoder.encode(early))
      early = null
    }
    next.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer) return onData(new Uint8Array(data))
      size = sizeOf(data)
      onSize(size)
    }
    next.onclose = () => void lost(isOpened ? 'was open' : 'never opened')
  }
  /** Opening a terminal that is gone would start it again, which nobody asked for. */
  const lost = async (how: 'was open' | 'never opened') => {
    const late = setTimeout(() => !signal.aborted && onState('away'), patienceMs)
    const isThere = await there()
    clearTimeout(late)
    if (signal.aborted) return
    const mayStart = use === 'type' && how === 'never opened'
    if (isThere || mayStart) setTimeout(open, retryMs)
    else onState('ended')
  }
  /** Resolves when the daemon can tell. */
  const there = async () => {
    while (!signal.aborted) {
      try {
        const all = await session.client.terminals(id, { signal })
        return all.some((each) => each.name === name && each.running)
      } catch {
        // The bar of the page says that the daemon is away.
        await new Promise((resolve) => setTimeout(resolve, retryMs))
      }
    }
    return false
  }
  onState('opening')
  open()
  return {
    send: (data) => {
      if (use === 'watch') return
      if (socket?.readyState === WebSocket.OPEN) socket.send(encoder.encode(data))
      else if (early !== null && early.length < mostEarly) early += data
    },
    resize: (next) => {
      const isDrawn = size !== null && size.cols === next.cols && size.rows === next.rows
      if (use === 'watch') {
        // Before the first size has come, the screen is about to be drawn anyway.
        if (size !== null && !isDrawn) socket?.close()
        return
      }
      size = next
      sendSize()
    },
    close: () => {
      leaving.abort()
      socket?.close()
    },
  }
}
