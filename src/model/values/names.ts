import { InvalidInputError } from '../errors.ts'
import { looksLikeId } from '../ids.ts'
import { quote } from '../text/quote.ts'

declare const brand: unique symbol

/** The name of an environment or a snapshot; safe in a path, a hostname and a command line. */
export type Name = string & { readonly [brand]: 'name' }

const shape = /^[a-z0-9][a-z0-9._-]{0,62}$/i

export function parseName(value: unknown): Name {
  if (typeof value !== 'string' || !shape.test(value)) {
    throw new InvalidInputError(`not a usable name: ${quote(value)}`, {
      remedy:
        'a name is 1 to 63 letters, digits, ".", "_" or "-", and begins with a letter or digit',
    })
  }
  if (value.includes('..')) {
    throw new InvalidInputError(`not a usable name: ${quote(value)} contains ".."`, {
      remedy: 'use single dots',
    })
  }
  if (looksLikeId(value)) {
    throw new InvalidInputError(`not a usable name: ${quote(value)} looks like an id`, {
      remedy: 'add or change a character, for example add a "-"',
    })
  }
  return value as Name
}
