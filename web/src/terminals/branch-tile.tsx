import { lazy, Suspense, useState } from 'react'
import type { Actions } from '../actions/use-actions.tsx'
import { type EnvironmentNode, nameOf } from '../forest/forest.ts'
import type { Session } from '../session/session.ts'
import { useStore } from '../state/store.ts'
import { inkOf } from '../ui/ink.ts'
import { EmptyState, LoadingState } from '../ui/states.tsx'
import { closeVerb } from './close-terminal.ts'
import { PortView } from './port-view.tsx'
import type { Receivers, TypeInto } from './receivers.ts'
import { TerminalView } from './terminal-view.tsx'
import { firstName, type InsideState, isDesktop, useInside } from './use-inside.ts'
import { type View, ViewTabs, viewName } from './view-tabs.tsx'

// Apart, because few environments have a desktop.
const DesktopView = lazy(async () => ({
  default: (await import('./desktop-view.tsx')).DesktopView,
}))

interface BranchTileProps {
  readonly session: Session
  readonly environment: EnvironmentNode
  readonly into: TypeInto
  readonly receivers: Receivers
  readonly actions: Actions
}

/** One environment in the grid: one of its terminals, ports or desktops. */
export function BranchTile({ session, environment, into, receivers, actions }: BranchTileProps) {
  const { id, status } = environment
  const mayType = session.can('exec')
  const [chosen, setChosen] = useState<View>({ kind: 'terminal', name: firstName })
  const [use, setUse] = useState<'type' | 'watch'>(mayType ? 'type' : 'watch')
  const [opening, setOpening] = useState(1)
  const { inside, look } = useInside(session, id, status === 'running')
  const view = mayType ? chosen : watchable(chosen, inside)
  const receives = useStore(receivers.ids).has(id)
  const title = `${nameOf(environment)}: ${viewName(view)}`
  const show = (next: View) => {
    setChosen(next)
    look()
  }
  const state =
    view.kind === 'terminal' ? inside.terminals.find((each) => each.name === view.name) : undefined
  return (
    <section
      className="tile"
      aria-label={title}
      style={{ borderTopColor: inkOf(id) }}
      data-receives={into === 'all' && receives}
    >
      <header className="tile-head">
        <h2 className="clip" title={title}>
          {nameOf(environment)} <span className="faint">{viewName(view)}</span>
        </h2>
        {into === 'all' && view.kind === 'terminal' && (
          <span className="tile-pill" data-on={receives}>
            {receives ? 'receives' : 'does not receive'}
          </span>
        )}
        {mayType ? (
          <button
            type="button"
            className="button"
            data-tone="quiet"
            aria-pressed={use === 'watch'}
            aria-label={`Only watch ${nameOf(environment)}`}
            title="Nothing that you type goes there, and its size stays"
            onClick={() => setUse(use === 'watch' ? 'type' : 'watch')}
          >
            Only watch
          </button>
        ) : (
          <span className="tile-pill">read only</span>
        )}
        {state?.running && mayType && (
          <button
            type="button"
            className="button"
            data-tone="quiet"
            aria-label={`Close ${title}`}
            title="Close this terminal"
            onClick={() => actions.begin(closeVerb(environment, state.name), null)}
          >
            ×
          </button>
        )}
      </header>
      {status !== 'running' ? (
        <EmptyState title={`${nameOf(environment)} is ${status}`}>
          {session.can('branch')
            ? 'Resume it in the tree to see its terminals.'
            : 'Its terminals are here again when it runs.'}
        </EmptyState>
      ) : !mayType && inside.terminals.length === 0 ? (
        <EmptyState title="No terminal was started here">
          Whoever types into one shows it here, too.
        </EmptyState>
      ) : (
        <>
          <ViewTabs {...{ mayType, environment, inside, view }} onView={show} />
          <div className="tile-body">
            {view.kind === 'terminal' ? (
              <TerminalView
                key={`${view.name} ${opening}`}
                {...{ session, id, use, into, receivers, state }}
                name={view.name}
                label={`${nameOf(environment)}, terminal ${view.name}`}
                onStart={() => setOpening(opening + 1)}
              />
            ) : isDesktop(view.port) ? (
              <Suspense fallback={<LoadingState what="the desktop" />}>
                <DesktopView key={view.port} {...{ session, id, use }} port={view.port} />
              </Suspense>
            ) : (
              <PortView {...{ session, id, title }} port={view.port} />
            )}
          </div>
        </>
      )}
    </section>
  )
}

/** Nobody who may only watch can start a terminal, so one that was started is shown. */
function watchable(chosen: View, { terminals }: InsideState): View {
  const isThere = terminals.some(({ name }) => chosen.kind === 'terminal' && chosen.name === name)
  const [first] = terminals
  return isThere || first === undefined ? chosen : { kind: 'terminal', name: first.name }
}
