import { isScope, type Scope, scopes } from '../../model/values/scopes.ts'
import { type Input, value } from './checked.ts'
import { name } from './environment-inputs.ts'
import { labels } from './maps.ts'
import * as v from './values.ts'

/** One scope, or several of which the widest counts: each includes those before it. */
const scope: Input<Scope> = value(`${scopes.join(' or ')}, or a list of them`, (given) => {
  const all = Array.isArray(given) ? given : [given]
  return all.length > 0 && all.every(isScope) ? scopes.findLast((s) => all.includes(s)) : undefined
})

/** The options of a new token. */
export const token = {
  name,
  /** absent: branch */
  scope,
  /** how long it is valid; absent: until it is removed */
  expiresMs: v.number(
    'milliseconds, more than 0',
    (given) => Number.isSafeInteger(given) && given > 0,
  ),
  /** it only reaches environments that carry all of these, and what it makes gets them */
  labels,
  /** `e2b`: a key that the SDKs of E2B accept */
  form: v.oneOf('forkpoint', 'e2b'),
}
