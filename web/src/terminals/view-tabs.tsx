import { type FormEvent, useState } from 'react'
import { type EnvironmentNode, nameOf } from '../forest/forest.ts'
import { freeName, type InsideState, isDesktop } from './use-inside.ts'

/** What a tile shows of its environment. */
export type View =
  | { readonly kind: 'terminal'; readonly name: string }
  | { readonly kind: 'port'; readonly port: number }

/** As it is called in the heading of a tile. */
export function viewName(view: View): string {
  if (view.kind === 'terminal') return `terminal ${view.name}`
  return isDesktop(view.port) ? `desktop on port ${view.port}` : `port ${view.port}`
}

interface ViewTabsProps {
  readonly mayType: boolean
  readonly environment: EnvironmentNode
  readonly inside: InsideState
  readonly view: View
  onView(view: View): void
}

/** What else of the environment can be shown here. */
export function ViewTabs({ mayType, environment, inside, view, onView }: ViewTabsProps) {
  const [draft, setDraft] = useState<string | null>(null)
  // One that was closed is still shown, and one that nobody may start is not offered.
  const shown = view.kind === 'terminal' && mayType ? [view.name] : []
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
      {!mayType ? null : draft === null ? (
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
