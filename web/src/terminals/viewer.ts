import type { Session } from '../session/session.ts'
import type { ScreenSize } from './screen.ts'
import { openSocket, pathInside } from './socket.ts'

/** `away`: the daemon does not answer, and is asked again. `ended`: the terminal is gone. */
export type ViewerState = 'opening' | 'open' | 'away' | 'ended'

export interface Viewer {
  send(data: string): void
  resize(size: ScreenSize): void
  close(): void
}

interface ViewerOptions {
  readonly session: Session
  readonly id: string
  readonly name: string
  onState(state: ViewerState): void
  /** The screen is about to be drawn again. */
  onReset(): void
  onData(data: Uint8Array): void
}

const retryMs = 300
/** Before somebody is told that the daemon is away. */
const patienceMs = 500
const encoder = new TextEncoder()

/** Follows a terminal, also through a restart of the daemon. */
export function viewTerminal(options: ViewerOptions): Viewer {
  const { session, id, name, onState, onReset, onData } = options
  const leaving = new AbortController()
  const { signal } = leaving
  let socket: WebSocket | null = null
  let size: ScreenSize | null = null
  const sendSize = () => {
    if (size !== null && socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(size))
  }
  const open = () => {
    if (signal.aborted) return
    const next = openSocket(session, pathInside(id, 'terminals', name))
    socket = next
    let isOpened = false
    next.onopen = () => {
      isOpened = true
      onReset()
      onState('open')
      sendSize()
    }
    next.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer) onData(new Uint8Array(data))
    }
    next.onclose = () => void lost(isOpened ? 'was open' : 'never opened')
  }
  /** Opening a terminal that is gone would start it again, which nobody asked for. */
  const lost = async (how: 'was open' | 'never opened') => {
    const late = setTimeout(() => !signal.aborted && onState('away'), patienceMs)
    const isThere = await there()
    clearTimeout(late)
    if (signal.aborted) return
    if (isThere || how === 'never opened') setTimeout(open, retryMs)
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
      if (socket?.readyState === WebSocket.OPEN) socket.send(encoder.encode(data))
    },
    resize: (next) => {
      size = next
      sendSize()
    },
    close: () => {
      leaving.abort()
      socket?.close()
    },
  }
}
