import { ForkpointError } from 'forkpoint/client'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { useStore } from '../state/store.ts'
import { forgetToken } from './kept-token.ts'
import { openSession, type Session, sessionFromCode, sessionFromTab, takeCode } from './session.ts'
import { Welcome, type WhyOut } from './welcome.tsx'

type Gate =
  | { readonly kind: 'opening' }
  | { readonly kind: 'out'; readonly why: WhyOut }
  | { readonly kind: 'in'; readonly session: Session }

/** Begun once, before anything is shown: a link works only once. */
const code = takeCode()
const first = code === null ? sessionFromTab() : sessionFromCode(code)

/** Shows the page to whoever is logged in, and the way in to everybody else. */
export function SessionGate({ children }: { children: (session: Session) => ReactNode }) {
  const [gate, setGate] = useState<Gate>({ kind: 'opening' })
  const enter = useCallback(async (opening: Promise<Session | null>) => {
    try {
      const session = await opening
      if (session === null) return setGate({ kind: 'out', why: { kind: 'new' } })
      const leave = async () => {
        setGate({ kind: 'out', why: { kind: 'left' } })
        await session.leave()
      }
      setGate({ kind: 'in', session: { ...session, leave } })
    } catch (error) {
      setGate({ kind: 'out', why: whyOf(error) })
    }
  }, [])
  useEffect(() => void enter(first), [enter])
  const expire = useCallback(() => {
    forgetToken()
    setGate({ kind: 'out', why: { kind: 'expired' } })
  }, [])
  if (gate.kind === 'opening') return <main className="welcome" aria-busy="true" />
  if (gate.kind === 'out') {
    return (
      <Welcome
        why={gate.why}
        onToken={(token) => void enter(openSession({ token, origin: 'pasted' }))}
        onRetry={() => void enter(sessionFromTab())}
      />
    )
  }
  return (
    <Inside session={gate.session} onExpired={expire}>
      {children(gate.session)}
    </Inside>
  )
}

/** Leaves as soon as the daemon refuses the token. */
function Inside(props: { session: Session; onExpired: () => void; children: ReactNode }) {
  const { session, onExpired, children } = props
  const state = useStore(session.connection.state)
  useEffect(() => {
    if (state === 'refused') onExpired()
  }, [state, onExpired])
  return children
}

function whyOf(error: unknown): WhyOut {
  const isKnown = error instanceof ForkpointError
  if (isKnown && error.code === 'connection') return { kind: 'unreachable' }
  forgetToken()
  const message = error instanceof Error ? error.message : String(error)
  return { kind: 'refused', message, remedy: (isKnown ? error.remedy : undefined) ?? '' }
}
