import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { isScope, type Scope, scopes } from '../../model/values/scopes.ts'

/** The widest of those that are named, which includes the others. */
export function parseScopes(text: string): Scope {
  const named = text.split(',').map((word) => word.trim())
  const wrong = named.find((word) => !isScope(word))
  if (wrong !== undefined) {
    throw new InvalidInputError(`not a scope: ${quote(wrong)}`, {
      remedy: `the scopes are ${scopes.join(', ')}`,
    })
  }
  return scopes.findLast((scope) => named.includes(scope)) ?? 'read'
}
