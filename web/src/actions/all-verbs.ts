import type { Session } from '../session/session.ts'
import { environmentVerbs } from './environment-verbs.ts'
import { lifeVerbs } from './life-verbs.ts'
import { snapshotVerbs } from './snapshot-verbs.ts'
import { storeVerbs } from './store-verbs.ts'
import type { Target, Verb } from './verb.ts'

const nodeVerbs: readonly Verb[] = [...environmentVerbs, ...lifeVerbs, ...snapshotVerbs]

/** What can be done to a node with this token. */
export function verbsFor({ can }: Session, target: Target | null): Verb[] {
  return nodeVerbs.filter((verb) => can(verb.scope) && verb.applies(target))
}

/** What can be done with this token whatever is selected. */
export function generalVerbs({ can, principal }: Session): Verb[] {
  const isRestricted = Object.keys(principal.labels).length > 0
  return storeVerbs.filter(({ scope }) => can(scope) && !(scope === 'admin' && isRestricted))
}
