import { ForkpointError } from 'forkpoint/client'
import type { ReactNode } from 'react'
import './states.css'

/** Nothing is there, and what to do about it. */
export function EmptyState({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="state">
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  )
}

/** Shapes of what is about to come, so that nothing jumps. */
export function LoadingState({ lines = 6, what }: { lines?: number; what: string }) {
  return (
    <div className="state-loading" role="status" aria-label={`loading ${what}`}>
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
        <span key={index} style={{ width: `${82 - ((index * 37) % 50)}%` }} />
      ))}
    </div>
  )
}

/** What failed, on what, and what to do. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const known = error instanceof ForkpointError ? error : null
  return (
    <div className="state state-error" role="alert">
      <h2>{known?.message ?? String(error)}</h2>
      <p>{known?.remedy ?? 'reload the page'}</p>
      {onRetry !== undefined && (
        <button type="button" className="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Something that this token may not see. */
export function NotAllowed({ scope, what }: { scope: string; what: string }) {
  return (
    <div className="state">
      <h2>Not with this token</h2>
      <p>
        {what} needs the scope <code>{scope}</code>. Log in with{' '}
        <code>forkpoint dashboard --scope {scope}</code> to see it.
      </p>
    </div>
  )
}
