import type { Route } from '../app/route.ts'
import { ancestorsOf, type NodeId, nameOf } from '../forest/forest.ts'
import type { Watched } from '../forest/watch-forest.ts'
import type { Session } from '../session/session.ts'
import { EmptyState } from '../ui/states.tsx'
import './inspect.css'

interface InspectorProps {
  readonly session: Session
  readonly watched: Watched
  readonly route: Route
}

/** What is known about the node that is selected. */
export function Inspector({ watched, route }: InspectorProps) {
  const node = route.page === 'node' ? watched.forest.nodes.get(route.id as NodeId) : undefined
  return (
    <aside className="inspector" aria-label="Details">
      {node === undefined ? (
        <EmptyState title="Select a node">Its details appear here.</EmptyState>
      ) : (
        <>
          <p className="faint">
            {ancestorsOf(watched.forest, node.id)
              .reverse()
              .map((id) => watched.forest.nodes.get(id)?.name ?? id)
              .join(' › ')}
          </p>
          <h1>{nameOf(node)}</h1>
        </>
      )}
    </aside>
  )
}
