import { checked, fields, type Input, list, options } from '../../api/inputs/checked.ts'
import { variables } from '../../api/inputs/maps.ts'
import * as v from '../../api/inputs/values.ts'

const longestCommand = 64 * 1024

const phases: Input<HookPhases> = options({
  prepare: v.text(longestCommand),
  commit: v.text(longestCommand),
  abort: v.text(longestCommand),
})

const hook: Input<Hook> = fields(
  { name: v.word },
  {
    snapshot: phases,
    restore: phases,
    fork: phases,
    discard: phases,
    remove: phases,
    cwd: v.path,
    env: variables,
    timeoutMs: v.timeout,
  },
)

export type HookOperation = 'snapshot' | 'restore' | 'fork' | 'discard' | 'remove'
export type HookPhase = 'prepare' | 'commit' | 'abort'

/** Command lines for `/bin/sh` on the host. */
export interface HookPhases {
  /** before the operation: all work that can fail. If it fails, the operation does not happen */
  readonly prepare?: string
  /** after the operation: makes what was prepared valid; should be a step that cannot fail */
  readonly commit?: string
  /** if the operation or another hook failed: undoes what was prepared, if anything was */
  readonly abort?: string
}

/** Something outside, such as a database, that is branched together with the environments. */
export interface Hook {
  /** for messages */
  readonly name: string
  readonly snapshot?: HookPhases
  readonly restore?: HookPhases
  readonly fork?: HookPhases
  /** a branch goes away: discarded, parked or cleaned up */
  readonly discard?: HookPhases
  /** a snapshot goes away */
  readonly remove?: HookPhases
  /** where the commands run; absent: the caller's working directory */
  readonly cwd?: string
  /** further variables of the commands */
  readonly env?: Readonly<Record<string, string>>
  /** time limit of one command; absent: one minute */
  readonly timeoutMs?: number
}

/** Checks hooks that a caller gave, as objects or from a file. */
export function checkHooks(given: unknown): readonly Hook[] {
  return checked('hooks', list('a list of hooks', hook, 100), given)
}
