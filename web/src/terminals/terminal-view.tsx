import type { TerminalState } from 'forkpoint/client'
import { useEffect, useRef, useState } from 'react'
import { useTheme } from '../app/theme.ts'
import type { Session } from '../session/session.ts'
import type { Receivers, TypeInto } from './receivers.ts'
import { openScreen, type Screen } from './screen.ts'
import { type Viewer, type ViewerState, viewTerminal } from './viewer.ts'

interface TerminalViewProps {
  readonly session: Session
  readonly id: string
  /** the environment and the terminal, for those who cannot see where it is */
  readonly label: string
  readonly name: string
  readonly use: 'type' | 'watch'
  readonly into: TypeInto
  readonly receivers: Receivers
  /** as the daemon knows it; a watched screen has its size */
  readonly state: TerminalState | undefined
  onStart(): void
}

interface Shown {
  readonly screen: Screen
  readonly viewer: Viewer
}

/** One terminal: its screen, and what is typed into it. */
export function TerminalView(props: TerminalViewProps) {
  const { session, id, name, label, use, receivers, into, onStart } = props
  const place = useRef<HTMLDivElement>(null)
  const shown = useRef<Shown | null>(null)
  const latest = useRef(props)
  latest.current = props
  const [state, setState] = useState<ViewerState>('opening')
  useEffect(() => {
    if (place.current === null) return
    const screen = openScreen(place.current, {
      label,
      onData: (data, source) => {
        const { use, into, receivers } = latest.current
        if (use === 'watch') return
        if (source === 'typed' && into === 'all') receivers.sendAll(data)
        else viewer.send(data)
      },
    })
    const viewer = viewTerminal({
      ...{ session, id, name, use },
      size: screen.fit(),
      onSize: (size) => screen.resize(size),
      onState: setState,
      onReset: () => screen.reset(),
      onData: (data) => screen.write(data),
    })
    shown.current = { screen, viewer }
    return () => {
      shown.current = null
      viewer.close()
      screen.close()
    }
  }, [session, id, name, label, use])
  useFit(place, shown, props)
  const theme = useTheme()
  useEffect(() => {
    void theme
    const paint = () => shown.current?.screen.paint()
    paint()
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', paint)
    return () => dark.removeEventListener('change', paint)
  }, [theme])
  useEffect(() => {
    if (use === 'watch' || state !== 'open') return
    return receivers.add(id, (data) => shown.current?.viewer.send(data))
  }, [receivers, id, use, state])
  return (
    <div className="screen" data-use={use} data-into={into} data-state={state}>
      <div className="screen-place" ref={place} />
      {state === 'away' && (
        <p className="screen-over" role="status">
          The daemon does not answer. The terminal is there again when it does.
        </p>
      )}
      {state === 'ended' && (
        <p className="screen-over" role="status">
          This terminal has ended.
          {session.can('exec') && (
            <button type="button" className="button" onClick={onStart}>
              Start it again
            </button>
          )}
        </p>
      )}
    </div>
  )
}

/** Whoever types decides how large the terminal is; whoever watches sees it as it is. */
function useFit(
  place: React.RefObject<HTMLDivElement | null>,
  shown: React.RefObject<Shown | null>,
  { use, state, name, id }: Pick<TerminalViewProps, 'use' | 'state' | 'name' | 'id'>,
): void {
  const { cols, rows } = state ?? {}
  useEffect(() => {
    if (use !== 'watch' || cols === undefined || rows === undefined) return
    shown.current?.viewer.resize({ cols, rows })
  }, [shown, use, cols, rows])
  useEffect(() => {
    if (use === 'watch' || place.current === null) return
    // Another terminal has to be measured again.
    void [name, id]
    const fit = () => {
      const now = shown.current
      if (now !== null && place.current?.offsetParent) now.viewer.resize(now.screen.fit())
    }
    const watch = new ResizeObserver(() => requestAnimationFrame(fit))
    watch.observe(place.current)
    return () => watch.disconnect()
  }, [place, shown, use, name, id])
}
