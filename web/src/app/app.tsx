import { lazy, Suspense, useCallback, useEffect, useMemo } from 'react'
import { environmentsOf, type ForestNode } from '../forest/forest.ts'
import { ForestPane } from '../forest/forest-pane.tsx'
import { watchForest } from '../forest/watch-forest.ts'
import { Inspector } from '../inspect/inspector.tsx'
import type { Session } from '../session/session.ts'
import { useStore } from '../state/store.ts'
import { LoadingState } from '../ui/states.tsx'
import { toggleMark, useMarks } from './marks.ts'
import { OfflineBar } from './offline-bar.tsx'
import type { PanelProps } from './panel.ts'
import { navigate, useRoute } from './route.ts'
import { TopBar } from './top-bar.tsx'
import './app.css'

// Apart, so that whoever looks at the tree does not load a terminal.
const TerminalsPanel = lazy(async () => ({
  default: (await import('../terminals/terminals-panel.tsx')).TerminalsPanel,
}))
const ComparePanel = lazy(async () => ({
  default: (await import('../compare/compare-panel.tsx')).ComparePanel,
}))

export function App({ session }: { session: Session }) {
  const route = useRoute()
  const marked = useMarks()
  const watch = useWatch(session)
  const watched = useStore(watch.watched)
  const open = useCallback(
    (node: ForestNode) => navigate({ page: 'node', id: node.id, tab: 'overview' }),
    [],
  )
  const mark = useCallback((node: ForestNode) => {
    if (node.kind === 'environment') toggleMark(node.id)
  }, [])
  const selected = route.page === 'node' ? route.id : null
  const isPanel = route.page === 'terminals' || route.page === 'compare'
  return (
    <div className="app" data-page={route.page}>
      <TopBar session={session} route={route} marked={marked} />
      <OfflineBar connection={session.connection} />
      {isPanel ? (
        <main className="app-panel">
          <Suspense fallback={<LoadingState what={route.page} />}>
            <Panel page={route.page} {...{ session, ids: route.ids, forest: watched.forest }} />
          </Suspense>
        </main>
      ) : (
        <main className="app-split">
          <section className="app-tree" aria-label="Tree">
            <ForestPane
              watched={watched}
              selected={selected}
              marked={marked}
              onOpen={open}
              onMark={mark}
              onRetry={() => void watch.refresh()}
            />
          </section>
          <Inspector session={session} watched={watched} route={route} />
        </main>
      )}
    </div>
  )
}

type PanelPlace = Pick<PanelProps, 'session' | 'forest'> & {
  readonly page: 'terminals' | 'compare'
  readonly ids: readonly string[]
}

function Panel({ page, ids, session, forest }: PanelPlace) {
  const environments = useMemo(() => {
    const wanted = new Set(ids)
    return environmentsOf(forest).filter(({ id }) => wanted.has(id))
  }, [forest, ids])
  const props = { session, environments, forest }
  return page === 'terminals' ? <TerminalsPanel {...props} /> : <ComparePanel {...props} />
}

function useWatch({ client, connection }: Session) {
  const watch = useMemo(() => watchForest(client, connection.state), [client, connection])
  useEffect(() => watch.start(), [watch])
  return watch
}
