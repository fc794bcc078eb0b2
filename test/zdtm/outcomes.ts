// What became of a program in a round, and of the whole suite in all of them.
import type { RoundName } from './rounds.ts'

export type Outcome =
  | { readonly kind: 'passed' }
  /** a copy says that something is not as it was; `told`: the snapshot's record had said so */
  | { readonly kind: 'wrong' | 'told'; readonly words: string }
  /** no snapshot was taken; `isNamed`: the refusal names the program */
  | { readonly kind: 'refused'; readonly words: string; readonly isNamed: boolean }
  /** the round did not happen for it */
  | { readonly kind: 'not started'; readonly words: string }
  /** a snapshot was reported as taken, and nothing can be made from it */
  | { readonly kind: 'lost'; readonly words: string }

export type Kind = Outcome['kind']

export interface Entry {
  readonly program: string
  readonly round: RoundName
  readonly repetition: number
  readonly outcome: Outcome
}

/** What a whole run found, as it is written to a file. */
export interface Results {
  readonly criu: string
  /** how many programs there are */
  readonly built: number
  /** those that pass if nothing is done; only they count */
  readonly passUndisturbed: readonly string[]
  /** what the others say, by name */
  readonly failUndisturbed: Readonly<Record<string, string>>
  readonly repetitions: number
  readonly entries: readonly Entry[]
}

/** The worst first: what happened once to a program is what counts. */
const severity: readonly Kind[] = ['lost', 'wrong', 'told', 'refused', 'not started', 'passed']

export function worst(outcomes: readonly Outcome[]): Outcome {
  const found = severity.flatMap((kind) => outcomes.filter((outcome) => outcome.kind === kind))
  return found[0] ?? { kind: 'passed' }
}

/** How many programs this happened to, in whatever round. */
export function countOf({ entries }: Results, kind: Kind): number {
  const those = entries.filter(({ outcome }) => outcome.kind === kind)
  return new Set(those.map(({ program }) => program)).size
}
