import { type FormEvent, lazy, Suspense, useState } from 'react'
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
import { firstName, freeName, type InsideState, isDesktop, useInside } from './use-inside.ts'

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

type View =
  | { readonly kind: 'terminal'; readonly name: string }
  | { readonly kind: 'port'; readonly port: number }

/** One environment in the grid: one of its terminals, ports or desktops. */
export function BranchTile({ session, environment, into, receivers, actions }: BranchTileProps) {
  const { id, status } = environment
  const [view, setView] = useState<View>({ kind: 'terminal', name: firstName })
  const [use, setUse] = useState<'type' | 'watch'>('type')
  const [opening, setOpening] = useState(1)
  const { inside, look } = useInside(session.client, id, status === 'running')
  const receives = useStore(receivers.ids).has(id)
  const title = `${nameOf(environment)}: ${viewName(view)}`
  const show = (next: View) => {
    setView(next)
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
        {state?.running && session.can('exec') && (
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
      {status === 'running' ? (
        <>
          <ViewTabs {...{ environment, inside, view }} onView={show} />
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
      ) : (
        <EmptyState title={`${nameOf(environment)} is ${status}`}>
          Resume it in the tree to see its terminals.
        </EmptyState>
      )}
    </section>
  )
}

function viewName(view: View): string {
  if (view.kind === 'terminal') return `terminal ${view.name}`
  return isDesktop(view.port) ? `desktop on port ${view.port}` : `port ${view.port}`
}

interface ViewTabsProps {
  readonly environment: EnvironmentNode
  readonly inside: InsideState
  readonly view: View
  onView(view: View): void
}

/** What else of the environment can be shown here. */
function ViewTabs({ environment, inside, view, onView }: ViewTabsProps) {
  const [draft, setDraft] = useState<string | null>(null)
  const shown = view.kind === 'terminal' ? [view.name] : []
  const names = new Set([...inside.terminals.map(({ name }) => name), ...shown])
  const open = (event: FormEvent) => {
    event.preventDefault()
    const name = draft?.trim() ?? ''
    setDraft(null)
    if (name !== '') onView({ kind: 'terminal', name })
  }
  return (
    <nav className="tile-tabs" aria-label={`Terminals and ports of ${nameOf(environment)}`}>
      {[...names].map((name) => (
        <Tab
          key={name}
          words={name}
          isOn={view.kind === 'terminal' && view.name === name}
          onChoose={() => onView({ kind: 'terminal', name })}
        />
      ))}
      {draft === null ? (
        <button
          type="button"
          className="tile-tab"
          aria-label={`New terminal in ${nameOf(environment)}`}
          title="New terminal"
          onClick={() => setDraft(freeName(inside.terminals))}
        >
          +
        </button>
      ) : (
        <form className="tile-new" onSubmit={open}>
          <input
            className="field"
            aria-label="Name of the terminal"
            // biome-ignore lint/a11y/noAutofocus: whoever asked for the field wants to use it
            autoFocus
            spellCheck={false}
            value={draft}
            onFocus={(event) => event.target.select()}
            onKeyDown={(event) => event.key === 'Escape' && setDraft(null)}
            onChange={(event) => setDraft(event.target.value)}
          />
          <button type="submit" className="button">
            Open
          </button>
        </form>
      )}
      {inside.ports.length > 0 && <span className="tile-gap" />}
      {inside.ports.map((port) => (
        <Tab
          key={port}
          words={isDesktop(port) ? `desktop :${port}` : `:${port}`}
          isOn={view.kind === 'port' && view.port === port}
          onChoose={() => onView({ kind: 'port', port })}
        />
      ))}
    </nav>
  )
}

function Tab({ words, isOn, onChoose }: { words: string; isOn: boolean; onChoose(): void }) {
  return (
    <button type="button" className="tile-tab" aria-pressed={isOn} onClick={onChoose}>
      {words}
    </button>
  )
}
