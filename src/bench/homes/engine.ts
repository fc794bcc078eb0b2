import type { Forkpoint } from '../../index.ts'
import type { EngineName } from '../results.ts'

/** An engine to measure, in a home of its own. */
export interface Engine {
  readonly by: EngineName
  /** path of that home */
  readonly home: string
  /** opened without warm spares */
  readonly cold: Forkpoint
  /** opened with them */
  readonly warm: Forkpoint
}

/** Another one goes first in every round, so that a slow moment of the machine favours none. */
export function inTurn<T>(all: readonly T[], round: number): T[] {
  const first = (round + all.length) % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}
