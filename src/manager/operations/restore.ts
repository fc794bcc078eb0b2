import type { Snapshot } from '../../api/handles/snapshot.ts'
import { ConflictError } from '../../model/errors.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { Branch } from '../branch.ts'
import { inLockstep } from '../hooks/lockstep.ts'
import { materialise } from '../replay/materialise.ts'
import type { Session } from '../session.ts'
import { loadTree } from '../session.ts'
import { label } from '../tree/labels.ts'
import type { ManagedSnapshot } from '../tree/nodes.ts'
import { findIn, type SnapshotTree } from '../tree/tree.ts'

/** Finds a snapshot of the session, and the physical one that holds its state. */
export async function physicalFor(
  session: Session,
  tree: SnapshotTree,
  node: ManagedSnapshot,
): Promise<Snapshot> {
  if (node.kind === 'physical') return await session.fp.snapshot(node.id)
  return await materialise(session.fp, tree, node, session.id)
}

/** Makes the branch what the snapshot holds, in place. If that fails, it stays what it is. */
export async function restoreBranch(
  session: Session,
  branch: Branch,
  reference: string,
): Promise<ManagedSnapshot> {
  const tree = await loadTree(session)
  const node = findIn(tree, reference)
  const target = await physicalFor(session, tree, node)
  const left = branch.head
  const { environment, changes } = branch
  await inLockstep(session.hooks, {
    facts: {
      operation: 'restore',
      session: session.id,
      branch: branch.name,
      environment: environment.id,
      snapshot: node.id,
    },
    work: async () => {
      await environment.restore(target)
      branch.moveTo(node.id, target.id, changes)
    },
  })
  if (left !== target.id) await forgetReplay(session, left)
  return node
}

/** A replayed snapshot has done its work once nothing continues from it any more. */
export async function forgetReplay({ fp }: Session, id: SnapshotId | null): Promise<void> {
  if (id === null) return
  const snapshot = await fp.snapshot(id)
  if (snapshot.lastInfo.labels[label.replayOf] === undefined) return
  try {
    await snapshot.remove()
  } catch (error) {
    // Another branch or a snapshot builds on it; it goes when the session is cleaned up.
    if (!(error instanceof ConflictError)) throw error
  }
}
