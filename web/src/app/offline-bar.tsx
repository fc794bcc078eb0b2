import type { Connection } from '../session/connection.ts'
import { useStore } from '../state/store.ts'

/** Says that the page is out of date, for as long as it is. */
export function OfflineBar({ connection }: { connection: Connection }) {
  const state = useStore(connection.state)
  if (state !== 'lost') return null
  return (
    <p className="offline" role="alert">
      The daemon does not answer. Environments keep running; this page shows what was last known and
      continues by itself.
    </p>
  )
}
