import type { Link } from '../../../client/link/send-operation.ts'
import type { ErrorJson } from '../../../model/errors.ts'
import type { PlainReport } from '../../render/branch-reports.ts'
import type { Say } from '../../render/layout/progress.ts'
import type { PlainOptions, PlainWords } from './plain-words.ts'

/** A verb in its plain form. */
export interface QuickVerb {
  readonly options: PlainOptions
  /** Looks up what the words name, and changes nothing. Rejects if anything is out of the ordinary. */
  prepare(link: Link, given: PlainWords): Promise<Prepared>
}

/** All that is left to do is the operation itself. */
export interface Prepared {
  /** for a person who waits */
  readonly doing: string
  carryOut(say: Say): Promise<Outcome>
}

export interface Outcome {
  readonly report: PlainReport
  /** what could not be made */
  readonly errors: readonly ErrorJson[]
}
