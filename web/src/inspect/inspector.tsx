import { verbsFor } from '../actions/all-verbs.ts'
import type { Target, Verb } from '../actions/verb.ts'
import { toggleMark, useMarks } from '../app/marks.ts'
import { navigate, type Route, type Tab } from '../app/route.ts'
import { type ForestNode, nameOf } from '../forest/forest.ts'
import type { Watched } from '../forest/watch-forest.ts'
import type { Session } from '../session/session.ts'
import { EmptyState } from '../ui/states.tsx'
import { ChangesTab } from './changes/changes-tab.tsx'
import { FilesTab } from './files/files-tab.tsx'
import { LogTab } from './log-tab.tsx'
import { OverviewTab } from './overview/overview-tab.tsx'
import { ResourcesTab } from './resources/resources-tab.tsx'
import { StoreOverview } from './store-overview.tsx'
import './inspect.css'
import './files.css'

export interface InspectorProps {
  readonly session: Session
  readonly watched: Watched
  readonly route: Route
  readonly target: Target | null
  onVerb(verb: Verb): void
  refresh(): Promise<void>
}

/** What every tab gets. */
export interface TabProps {
  readonly session: Session
  readonly target: Target
  refresh(): Promise<void>
}

/** What is known about the node that is selected; about everything, if none is. */
export function Inspector({ session, watched, route, target, onVerb, refresh }: InspectorProps) {
  return (
    <aside className="inspector" aria-label="Details">
      {target !== null && route.page === 'node' ? (
        <>
          <Head session={session} target={target} onVerb={onVerb} />
          <Tabs node={target.node} tab={route.tab} />
          <div className="inspector-body" role="tabpanel" aria-label={route.tab}>
            <Body tab={route.tab} key={target.node.id} {...{ session, target, refresh }} />
          </div>
        </>
      ) : route.page === 'node' && watched.state === 'ready' ? (
        <EmptyState title="It is gone">
          Nothing here has the id <code>{route.id}</code>. It was removed, or your token does not
          see it.
        </EmptyState>
      ) : (
        <StoreOverview watched={watched} />
      )}
    </aside>
  )
}

function Head({
  session,
  target,
  onVerb,
}: Pick<InspectorProps, 'session' | 'onVerb'> & { target: Target }) {
  const { node } = target
  const marked = useMarks()
  const verbs = verbsFor(session, target)
  return (
    <header className="inspector-head">
      <div className="inspector-title">
        <button
          type="button"
          className="button inspector-back"
          data-tone="quiet"
          onClick={() => navigate({ page: 'tree' })}
        >
          ‹ Tree
        </button>
        <h1 className="clip">{nameOf(node)}</h1>
        <span className="faint">{node.kind}</span>
        <span className={`status status-${node.status}`}>{node.status}</span>
        <code className="faint small inspector-id">{node.id}</code>
      </div>
      <div className="inspector-verbs">
        {verbs.map((verb) => (
          <button
            key={verb.id}
            type="button"
            className="button"
            title={verb.key === undefined ? undefined : `${verb.title} (${verb.key})`}
            onClick={() => onVerb(verb)}
          >
            {verb.title}
          </button>
        ))}
        {node.kind === 'environment' && (
          <button
            type="button"
            className="button"
            aria-pressed={marked.has(node.id)}
            title="Mark it for terminals or the comparison (x)"
            onClick={() => toggleMark(node.id)}
          >
            Mark
          </button>
        )}
        {node.kind === 'environment' && session.can('exec') && (
          <button
            type="button"
            className="button"
            onClick={() => navigate({ page: 'terminals', ids: [node.id] })}
          >
            Terminal
          </button>
        )}
      </div>
    </header>
  )
}

const tabWords: Readonly<Record<Tab, string>> = {
  overview: 'Overview',
  changes: 'Changes',
  files: 'Files',
  log: 'Log',
  resources: 'Resources',
}

const ofEnvironments: ReadonlySet<Tab> = new Set<Tab>(['files', 'log', 'resources'])

function Tabs({ node, tab }: { node: ForestNode; tab: Tab }) {
  const shown = (Object.keys(tabWords) as Tab[]).filter(
    (each) => node.kind === 'environment' || !ofEnvironments.has(each),
  )
  return (
    <div className="inspector-tabs" role="tablist" aria-label="Details">
      {shown.map((each) => (
        <button
          key={each}
          type="button"
          role="tab"
          className="top-page"
          aria-selected={each === tab}
          onClick={() => navigate({ page: 'node', id: node.id, tab: each })}
        >
          {tabWords[each]}
        </button>
      ))}
    </div>
  )
}

function Body({ tab, ...props }: TabProps & { tab: Tab }) {
  switch (tab) {
    case 'overview':
      return <OverviewTab {...props} />
    case 'changes':
      return <ChangesTab {...props} />
    case 'files':
      return <FilesTab {...props} />
    case 'log':
      return <LogTab {...props} />
    case 'resources':
      return <ResourcesTab {...props} />
  }
}
