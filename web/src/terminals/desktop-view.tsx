import RFB from '@novnc/novnc'
import { useEffect, useRef, useState } from 'react'
import type { Session } from '../session/session.ts'
import { openSocket, pathInside } from './socket.ts'

interface DesktopViewProps {
  readonly session: Session
  readonly id: string
  readonly port: number
  readonly use: 'type' | 'watch'
}

type DesktopState = 'opening' | 'open' | 'lost' | 'locked'

const words: Readonly<Record<Exclude<DesktopState, 'open'>, string>> = {
  opening: 'Connecting to the desktop…',
  lost: 'The desktop does not answer.',
  locked: 'This desktop wants a password.',
}

/** A desktop inside, as its VNC server shows it. */
export function DesktopView({ session, id, port, use }: DesktopViewProps) {
  const place = useRef<HTMLDivElement>(null)
  const shown = useRef<RFB | null>(null)
  const [state, setState] = useState<DesktopState>('opening')
  const [round, setRound] = useState(0)
  const [password, setPassword] = useState('')
  useEffect(() => {
    if (place.current === null) return
    // Read, so that another round connects again.
    void round
    setState('opening')
    const socket = openSocket(session, pathInside(id, 'tcp', String(port)))
    const desktop = new RFB(place.current, socket, { shared: true })
    shown.current = desktop
    desktop.scaleViewport = true
    desktop.background = 'transparent'
    desktop.addEventListener('connect', () => setState('open'))
    desktop.addEventListener('disconnect', () => setState('lost'))
    desktop.addEventListener('credentialsrequired', () => setState('locked'))
    return () => {
      shown.current = null
      desktop.disconnect()
    }
  }, [session, id, port, round])
  useEffect(() => {
    if (shown.current !== null && state === 'open') shown.current.viewOnly = use === 'watch'
  }, [use, state])
  return (
    <div className="screen" data-use={use} data-state={state}>
      {/* Keys that are pressed here belong to the desktop. */}
      <div className="desktop-place" data-keys="desktop" ref={place} />
      {state !== 'open' && (
        <p className="screen-over" role="status">
          {words[state]}
          {state === 'lost' && (
            <button type="button" className="button" onClick={() => setRound(round + 1)}>
              Connect again
            </button>
          )}
        </p>
      )}
      {state === 'locked' && (
        <form
          className="screen-over"
          onSubmit={(event) => {
            event.preventDefault()
            shown.current?.sendCredentials({ password })
          }}
        >
          <input
            className="field"
            type="password"
            aria-label="Password of the desktop"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
          <button type="submit" className="button" data-tone="main">
            Unlock
          </button>
        </form>
      )}
    </div>
  )
}
