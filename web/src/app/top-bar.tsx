import { generalVerbs } from '../actions/all-verbs.ts'
import type { Verb } from '../actions/verb.ts'
import type { Session } from '../session/session.ts'
import { useStore } from '../state/store.ts'
import { Mark } from '../ui/mark.tsx'
import { clearMarks } from './marks.ts'
import { navigate, type Route } from './route.ts'
import { changeTheme, useTheme } from './theme.ts'

interface TopBarProps {
  readonly session: Session
  readonly route: Route
  readonly marked: ReadonlySet<string>
  onPalette(): void
  onVerb(verb: Verb): void
}

export function TopBar({ session, route, marked, onPalette, onVerb }: TopBarProps) {
  const theme = useTheme()
  const ids = [...marked]
  return (
    <header className="top-bar">
      <a className="top-name" href="/" onClick={inPage(() => navigate({ page: 'tree' }))}>
        <Mark size={20} />
        <span className="top-word">Forkpoint</span>
      </a>
      <nav className="top-pages" aria-label="Pages">
        <Page
          words="Tree"
          isOn={route.page === 'tree' || route.page === 'node'}
          to={{ page: 'tree' }}
        />
        <Page words="Terminals" isOn={route.page === 'terminals'} to={{ page: 'terminals', ids }} />
        <Page words="Compare" isOn={route.page === 'compare'} to={{ page: 'compare', ids }} />
      </nav>
      {marked.size > 0 && (
        <span className="top-marks">
          <span className="number">{marked.size} marked</span>
          <button type="button" className="button" data-tone="quiet" onClick={clearMarks}>
            Clear
          </button>
        </span>
      )}
      <span className="top-space" />
      {generalVerbs(session)
        .filter(({ id }) => id === 'create')
        .map((verb) => (
          <button key={verb.id} type="button" className="button" onClick={() => onVerb(verb)}>
            Create
          </button>
        ))}
      <ConnectionSign session={session} />
      <button
        type="button"
        className="button top-palette"
        data-tone="quiet"
        aria-label="Commands, Ctrl K"
        onClick={onPalette}
      >
        <span className="top-words">
          Commands <kbd>Ctrl K</kbd>
        </span>
        <span className="top-more" aria-hidden="true">
          ⋯
        </span>
      </button>
      <button
        type="button"
        className="button top-words"
        data-tone="quiet"
        onClick={changeTheme}
        title={`Theme: ${theme}`}
        aria-label={`Theme: ${theme}`}
      >
        {theme === 'dark' ? '◐' : theme === 'light' ? '◑' : '◒'}
      </button>
      <button
        type="button"
        className="button top-words"
        data-tone="quiet"
        onClick={() => void session.leave()}
      >
        Log out
      </button>
    </header>
  )
}

function Page({ words, isOn, to }: { words: string; isOn: boolean; to: Route }) {
  return (
    <button
      type="button"
      className="top-page"
      aria-current={isOn ? 'page' : undefined}
      onClick={() => navigate(to)}
    >
      {words}
    </button>
  )
}

/** Links of the page open in the page, unless somebody wants another tab. */
function inPage(go: () => void) {
  return (event: React.MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    go()
  }
}

/** Says what the page may do, and whether the daemon answers. */
function ConnectionSign({ session }: { session: Session }) {
  const state = useStore(session.connection.state)
  const { scopes, name, labels } = session.principal
  const scope = scopes.at(-1) ?? 'read'
  const restricted = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
  return (
    <span className="top-sign small" role="status" title={name ?? undefined}>
      <span className={`top-dot top-dot-${state}`} aria-hidden="true" />
      <span className="top-words">{state === 'connected' ? 'live' : 'offline'}</span>
      <span className="faint top-words">
        {' · '}
        {scope === 'read' ? 'read only' : scope}
        {restricted.length > 0 && ` · ${restricted.join(', ')}`}
      </span>
    </span>
  )
}
