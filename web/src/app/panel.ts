import type { EnvironmentNode, Forest } from '../forest/forest.ts'
import type { Session } from '../session/session.ts'

/** What a panel over several environments gets: the grid of terminals, and the comparison. */
export interface PanelProps {
  readonly session: Session
  /** those that the user marked, in the order of the tree; those that were removed meanwhile are not in it */
  readonly environments: readonly EnvironmentNode[]
  /** everything there is, for names and lineage; a new object after each change */
  readonly forest: Forest
}
