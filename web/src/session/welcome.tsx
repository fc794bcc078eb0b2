import { type FormEvent, useState } from 'react'
import { Mark } from '../ui/mark.tsx'
import './welcome.css'

/** Why nobody is logged in. */
export type WhyOut =
  | { readonly kind: 'new' }
  | { readonly kind: 'left' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'refused'; readonly message: string; readonly remedy: string }

interface WelcomeProps {
  readonly why: WhyOut
  onToken(token: string): void
  onRetry(): void
}

/** The way in. */
export function Welcome({ why, onToken, onRetry }: WelcomeProps) {
  return (
    <main className="welcome">
      <div className="welcome-sheet">
        <Mark />
        <h1>Forkpoint</h1>
        <Reason why={why} />
        {why.kind === 'unreachable' ? (
          <button type="button" className="button" data-tone="main" onClick={onRetry}>
            Try again
          </button>
        ) : (
          <WaysIn onToken={onToken} />
        )}
      </div>
    </main>
  )
}

function Reason({ why }: Pick<WelcomeProps, 'why'>) {
  switch (why.kind) {
    case 'new':
      return <p>See every branch of your environments, look into any of them, and type there.</p>
    case 'left':
      return <p role="status">You are logged out. The token of this page is removed.</p>
    case 'expired':
      return (
        <p role="alert" className="welcome-alert">
          Your session has ended: its token has expired or was removed.
        </p>
      )
    case 'unreachable':
      return (
        <p role="alert" className="welcome-alert">
          The daemon does not answer. Start it with <code>forkpoint serve</code>; environments keep
          running without it.
        </p>
      )
    case 'refused':
      return (
        <p role="alert" className="welcome-alert">
          {why.message}. {why.remedy}
        </p>
      )
  }
}

function WaysIn({ onToken }: Pick<WelcomeProps, 'onToken'>) {
  const [token, setToken] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (token.trim() !== '') onToken(token.trim())
  }
  return (
    <>
      <p>On the machine of the daemon, run</p>
      <pre className="welcome-command">forkpoint dashboard</pre>
      <p>and open the link within two minutes. Or use a token that you have:</p>
      <form className="welcome-form" onSubmit={submit}>
        <label className="hidden-text" htmlFor="token">
          Token
        </label>
        <input
          id="token"
          className="field mono"
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="fp_…"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <button type="submit" className="button" data-tone="main">
          Log in
        </button>
      </form>
      <p className="small faint">
        The token stays in this tab. It is never part of an address, and no other site can use it.
      </p>
    </>
  )
}
