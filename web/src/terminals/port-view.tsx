import { useState } from 'react'
import type { Session } from '../session/session.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { useLoaded } from '../ui/use-loaded.ts'

interface PortViewProps {
  readonly session: Session
  readonly id: string
  readonly title: string
  readonly port: number
}

/** What a port inside serves. It is hostile: it runs in a sandbox, without the origin of the page. */
export function PortView({ session, id, title, port }: PortViewProps) {
  const [round, setRound] = useState(0)
  const { loaded, reload } = useLoaded(`${id} ${port}`, (signal) =>
    session.client.portLink(id, port, { signal }),
  )
  if (loaded.state === 'loading') return <LoadingState what="the port" />
  if (loaded.state === 'failed') return <ErrorState error={loaded.error} onRetry={reload} />
  const { path } = loaded.value
  return (
    <div className="port">
      <div className="port-bar">
        <span className="faint clip">What listens on port {port} serves this, in a sandbox.</span>
        <button type="button" className="button" onClick={() => setRound(round + 1)}>
          Reload
        </button>
        <a className="button" href={path} target="_blank" rel="noopener noreferrer">
          Open in a tab
        </a>
      </div>
      <iframe
        key={round}
        className="port-frame"
        title={title}
        src={path}
        sandbox="allow-scripts allow-forms"
        referrerPolicy="no-referrer"
      />
    </div>
  )
}
