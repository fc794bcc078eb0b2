import { useCallback, useEffect, useMemo, useState } from 'react'
import { generalVerbs, verbsFor } from '../actions/all-verbs.ts'
import { useActions } from '../actions/use-actions.tsx'
import type { Target } from '../actions/verb.ts'
import type { ForestNode, NodeId } from '../forest/forest.ts'
import { ForestPane } from '../forest/forest-pane.tsx'
import { type Watched, watchForest } from '../forest/watch-forest.ts'
import { Inspector } from '../inspect/inspector.tsx'
import type { Session } from '../session/session.ts'
import { useStore } from '../state/store.ts'
import { choicesOf } from './choices.ts'
import { Help } from './help.tsx'
import { isTyping, useKeys } from './keys.ts'
import { toggleMark, useMarks } from './marks.ts'
import { NoticeList } from './notice-list.tsx'
import { OfflineBar } from './offline-bar.tsx'
import { Palette } from './palette.tsx'
import { PanelPage } from './panel-page.tsx'
import { navigate, type Route, useRoute } from './route.ts'
import { TopBar } from './top-bar.tsx'
import './app.css'

/** The page of somebody who is logged in. */
export function App({ session }: { session: Session }) {
  const route = useRoute()
  const marked = useMarks()
  const watch = useWatch(session)
  const watched = useStore(watch.watched)
  const actions = useActions(session, watch.refresh)
  const [over, setOver] = useState<'palette' | 'help' | null>(null)
  const target = useMemo(() => targetOf(route, watched), [route, watched])
  const verbs = [...verbsFor(session, target), ...generalVerbs(session)]
  useKeys((event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
      setOver('palette')
      return true
    }
    if (isTyping(event)) return false
    if (event.key === '?') setOver('help')
    else if (event.key === 'Escape' && route.page !== 'tree') navigate({ page: 'tree' })
    else {
      const verb = verbs.find(({ key }) => key === event.key)
      if (verb === undefined) return false
      actions.begin(verb, target)
    }
    return true
  })
  const close = () => setOver(null)
  return (
    <div className="app" data-page={route.page}>
      <TopBar
        session={session}
        route={route}
        marked={marked}
        onPalette={() => setOver('palette')}
        onVerb={(verb) => actions.begin(verb, null)}
      />
      <OfflineBar connection={session.connection} />
      {route.page === 'terminals' || route.page === 'compare' ? (
        <PanelPage page={route.page} ids={route.ids} {...{ session, forest: watched.forest }} />
      ) : (
        <main className="app-split">
          <TreeSide {...{ session, watched, route, marked }} onRetry={() => void watch.refresh()} />
          <Inspector
            {...{ session, watched, route, target }}
            onVerb={(verb) => actions.begin(verb, target)}
            refresh={watch.refresh}
          />
        </main>
      )}
      {over === 'palette' && (
        <Palette
          choices={choicesOf({
            ...{ session, actions, target, watched, marked },
            onHelp: () => setOver('help'),
          })}
          onClose={close}
        />
      )}
      {over === 'help' && <Help verbs={verbs} onClose={close} />}
      {actions.dialog}
      <NoticeList />
    </div>
  )
}

interface TreeSideProps {
  readonly session: Session
  readonly watched: Watched
  readonly route: Route
  readonly marked: ReadonlySet<string>
  onRetry(): void
}

function TreeSide({ session, watched, route, marked, onRetry }: TreeSideProps) {
  const open = useCallback(
    (node: ForestNode) => navigate({ page: 'node', id: node.id, tab: 'overview' }),
    [],
  )
  const mark = useCallback((node: ForestNode) => {
    if (node.kind === 'environment') toggleMark(node.id)
  }, [])
  return (
    <section className="app-tree" aria-label="Tree">
      <ForestPane
        client={session.client}
        watched={watched}
        selected={route.page === 'node' ? route.id : null}
        marked={marked}
        onOpen={open}
        onMark={mark}
        onRetry={onRetry}
      />
    </section>
  )
}

function targetOf(route: Route, { forest }: Watched): Target | null {
  const node = route.page === 'node' ? forest.nodes.get(route.id as NodeId) : undefined
  return node === undefined ? null : { node, forest }
}

function useWatch({ client, connection }: Session) {
  const watch = useMemo(() => watchForest(client, connection.state), [client, connection])
  useEffect(() => watch.start(), [watch])
  return watch
}
