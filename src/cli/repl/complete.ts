import { replCommands } from './parse-line.ts'

/** What the words of a session can be. */
export interface Completable {
  /** ids and names */
  readonly snapshots: readonly string[]
  readonly branches: readonly string[]
}

/** What can follow, and the word it would replace, as readline wants them. Pure. */
export function completionsOf(line: string, known: Completable): [string[], string] {
  const words = line.trimStart().split(/\s+/)
  const word = words.at(-1) ?? ''
  const candidates = words.length <= 1 ? replCommands : argumentsOf(words, known)
  return [candidates.filter((each) => each.startsWith(word)).sort(), word]
}

function argumentsOf(words: readonly string[], known: Completable): readonly string[] {
  const [command] = words
  const position = words.length - 1
  if (command === 'restore' && position === 1) return known.snapshots
  if (command === 'fork' && position === 2) return known.snapshots
  if (command === 'set') return position === 1 ? ['cmd'] : ['on', 'off']
  const takesBranch = command === 'checkout' || command === 'park' || command === 'discard'
  return takesBranch && position === 1 ? known.branches : []
}
