import type { Detail } from '../../render/branch-reports.ts'

/** The options that a verb has in its plain form. */
export interface PlainOptions {
  /** how many words it takes besides its options */
  readonly words: number
  /** options with a value, and the name of that value */
  readonly values?: Readonly<Record<string, string>>
  /** options without one */
  readonly flags?: Readonly<Record<string, string>>
}

export interface PlainWords {
  readonly words: readonly string[]
  readonly values: ReadonlyMap<string, string>
  readonly flags: ReadonlySet<string>
}

export function detailOf(flags: ReadonlySet<string>): Detail {
  return flags.has('quiet') ? 'ids' : 'sentences'
}

/** What follows a verb; null if only the parser of the whole command line could tell what it means. */
export function plainWords(
  given: readonly string[],
  { words: count, values: named = {}, flags: known = {} }: PlainOptions,
): PlainWords | null {
  const words: string[] = []
  const values = new Map<string, string>()
  const flags = new Set<string>()
  const rest = given.values()
  for (const word of rest) {
    const flag = ownValue(known, word)
    const name = ownValue(named, word)
    if (flag !== undefined) {
      flags.add(flag)
    } else if (name !== undefined) {
      const { value } = rest.next()
      if (!isPlain(value)) return null
      values.set(name, value)
    } else if (isPlain(word)) {
      words.push(word)
    } else {
      return null
    }
  }
  return words.length === count ? { words, values, flags } : null
}

/** An option that is not known here, or no word at all. */
function isPlain(word: string | undefined): word is string {
  return word !== undefined && word !== '' && !word.startsWith('-')
}

function ownValue(table: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}
