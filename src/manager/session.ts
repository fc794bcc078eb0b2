import type { ForkpointHandle } from '../api/handles/forkpoint.ts'
import { NotFoundError } from '../model/errors.ts'
import type { EnvironmentId } from '../model/ids.ts'
import { quote } from '../model/text/quote.ts'
import type { OperationLog } from './bench/operation-log.ts'
import type { Branch } from './branch.ts'
import type { Decider } from './decide/decider.ts'
import type { Hook } from './hooks/hook.ts'
import { type SnapshotTree, treeOf } from './tree/tree.ts'

/** What the operations of one manager share. */
export interface Session {
  readonly fp: ForkpointHandle
  /** the id of the main environment, which also marks everything that belongs to the session */
  readonly id: EnvironmentId
  /** whether the main environment was there before: then it also stays */
  readonly isAttached: boolean
  readonly decider: Decider
  readonly hooks: readonly Hook[]
  readonly log: OperationLog
  readonly branches: Map<string, Branch>
  /** the branch that commands go to */
  current: string
}

export function branchOf({ branches }: Pick<Session, 'branches'>, name: string): Branch {
  const branch = branches.get(name)
  if (branch !== undefined) return branch
  throw new NotFoundError(`no branch ${quote(name)}`, {
    remedy: `the branches are ${[...branches.keys()].join(', ')}`,
  })
}

export async function loadTree({ fp, id, branches }: Session): Promise<SnapshotTree> {
  const snapshots = await fp.snapshots()
  const environments = new Set([...branches.values()].map(({ environment }) => environment.id))
  return treeOf(
    snapshots.map(({ lastInfo }) => lastInfo),
    { session: id, environments: environments.add(id) },
  )
}
