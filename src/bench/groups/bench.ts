import type { Forkpoint } from '../../index.ts'
import type { Plan } from '../plan.ts'
import type { Missing } from '../results.ts'

/** What every group of measurements works with. */
export interface Bench {
  readonly plan: Plan
  /** a home of the benchmark's own */
  readonly home: string
  /** opened without warm spares */
  readonly cold: Forkpoint
  /** opened with them */
  readonly warm: Forkpoint
  /** a directory for everything else */
  readonly dir: string
  readonly criu: string
  readonly quickCriu: string
  /** tells what is done next; throws once the user wants an end */
  readonly say: (doing: string) => void
  /** notes what is not here to be measured, and why */
  readonly miss: (missing: Missing) => void
  /** runs `work`; if it fails, that is noted, and the others are measured all the same */
  readonly attempt: <T>(what: string, work: () => Promise<T>) => Promise<T | null>
}

/** The number of each round, warm-ups first; they are negative. */
export function roundsOf({ rounds, warmUps }: Plan): number[] {
  return Array.from({ length: warmUps + rounds }, (_, i) => i - warmUps)
}

export function roundName(round: number, { rounds }: Plan): string {
  return round < 0 ? 'warm-up' : `round ${round + 1} of ${rounds}`
}
