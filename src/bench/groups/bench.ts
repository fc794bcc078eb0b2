import type { Forkpoint } from '../../index.ts'
import type { Engine } from '../homes/engine.ts'
import type { Plan } from '../plan.ts'
import type { BackendFacts, Missing } from '../results.ts'

/** What every group of measurements uses. */
export interface Bench {
  readonly plan: Plan
  /** path of the benchmark's own home */
  readonly home: string
  /** opened without warm spares */
  readonly cold: Forkpoint
  /** opened with them */
  readonly warm: Forkpoint
  /** this engine, and that of another checkout if there is one to compare with */
  readonly engines: readonly Engine[]
  /** opens a second home of this engine, whose volume is ext4 */
  readonly openExt4: () => Promise<Engine & AsyncDisposable>
  /** a directory for everything else */
  readonly dir: string
  readonly criu: string
  readonly quickCriu: string
  /** reports the next step; throws once the user has interrupted the run */
  readonly say: (doing: string) => void
  /** notes what this machine cannot measure, and why */
  readonly miss: (missing: Missing) => void
  /** notes what is known about a backend */
  readonly found: (facts: BackendFacts) => void
  /** runs `work`; a failure is noted, and the rest is still measured */
  readonly attempt: <T>(what: string, work: () => Promise<T>) => Promise<T | null>
}

/** The number of each round. Warm-ups come first, and are negative. */
export function roundsOf({ rounds, warmUps }: Plan): number[] {
  return Array.from({ length: warmUps + rounds }, (_, i) => i - warmUps)
}

export function roundName(round: number, { rounds }: Plan): string {
  return round < 0 ? 'warm-up' : `round ${round + 1} of ${rounds}`
}
