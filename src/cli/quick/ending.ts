import type { ErrorJson } from '../../model/errors.ts'

/** The result was shown, but not all of it could be made. */
export interface Incomplete {
  readonly errors: readonly ErrorJson[]
}

/** How a command ended: its exit code, or what the rest of the command line has to report. */
export type Ending = number | ErrorJson | Incomplete
