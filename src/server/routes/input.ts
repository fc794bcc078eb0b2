import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

type Fields = Readonly<Record<string, unknown>>

/** A JSON object; an empty body is one without fields. */
export function bodyOf(body: unknown): Fields {
  if (body === undefined || body === null || body === '') return {}
  if (typeof body === 'object' && !Array.isArray(body)) return body as Fields
  throw new InvalidInputError(`the body is not a JSON object: ${quote(body)}`, {
    remedy: 'send the options as one JSON object',
  })
}

/** Fields that are words, however they look: a name may be `true` or `12`. */
const words: ReadonlySet<string> = new Set(['reference', 'around', 'environment', 'name', 'path'])

/** The fields of a query. Whatever is not a word may be JSON: `force=true`, `labels={"a":"b"}`. */
export function queryOf(query: unknown): Fields {
  const entries = Object.entries(query as Readonly<Record<string, string | string[]>>)
  return Object.fromEntries(entries.map(([key, value]) => [key, queryValue(key, value)]))
}

function queryValue(key: string, value: string | string[]): unknown {
  if (typeof value !== 'string' || words.has(key)) return value
  try {
    return JSON.parse(value)
  } catch {
    // It is a word after all, such as a status.
    return value
  }
}
