import { generalVerbs, verbsFor } from '../actions/all-verbs.ts'
import type { Actions } from '../actions/use-actions.tsx'
import type { Target } from '../actions/verb.ts'
import { nameOf } from '../forest/forest.ts'
import type { Watched } from '../forest/watch-forest.ts'
import type { Session } from '../session/session.ts'
import type { Choice } from './palette.tsx'
import { navigate } from './route.ts'
import { changeTheme } from './theme.ts'

interface ChoiceOptions {
  readonly session: Session
  readonly actions: Actions
  readonly target: Target | null
  readonly watched: Watched
  readonly marked: ReadonlySet<string>
  onHelp(): void
}

/** Everything that the palette offers: verbs for what is selected, pages, and each node. */
export function choicesOf(options: ChoiceOptions): Choice[] {
  const { session, actions, target, watched, marked, onHelp } = options
  const about = target === null ? '' : nameOf(target.node)
  const verbs = verbsFor(session, target).map((verb) => ({
    id: verb.id,
    title: verb.title,
    about,
    ...(verb.key !== undefined && { key: verb.key }),
    choose: () => actions.begin(verb, target),
  }))
  const general = generalVerbs(session).map((verb) => ({
    id: verb.id,
    title: verb.title,
    about: '',
    ...(verb.key !== undefined && { key: verb.key }),
    choose: () => actions.begin(verb, null),
  }))
  const ids = [...marked]
  const pages: Choice[] = [
    page('tree', 'Show the tree', () => navigate({ page: 'tree' })),
    page('terminals', 'Show terminals', () => navigate({ page: 'terminals', ids })),
    page('compare', 'Compare what is marked', () => navigate({ page: 'compare', ids })),
    page('theme', 'Change the theme', changeTheme),
    page('help', 'Show all keys', onHelp),
    page('leave', 'Log out', () => void session.leave()),
  ]
  const nodes = [...watched.forest.nodes.values()].map((node) => ({
    id: node.id,
    title: `Go to ${nameOf(node)}`,
    about: `${node.kind} ${node.id}`,
    choose: () => navigate({ page: 'node', id: node.id, tab: 'overview' }),
  }))
  return [...verbs, ...general, ...pages, ...nodes]
}

function page(id: string, title: string, choose: () => void): Choice {
  return { id: `page-${id}`, title, about: '', choose }
}
