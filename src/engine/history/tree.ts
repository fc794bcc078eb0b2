import type { EnvironmentNode, SnapshotNode, TreeNode } from '../../api/contract/data/store.ts'
import type { EnvironmentRecord } from '../../model/environment.ts'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import { byAgeAndName } from '../../model/values/natural-order.ts'
import { type Lineage, lineageOf } from './lineage.ts'

/** All snapshots and environments as one forest; an environment without a snapshot is a root. */
export function buildTree(
  snapshots: readonly SnapshotRecord[],
  environments: readonly EnvironmentRecord[],
): TreeNode[] {
  const lineage = lineageOf(snapshots)
  const heads = Map.groupBy(environments.toSorted(byAgeAndName), ({ head }) =>
    head !== null && lineage.get(head) !== undefined ? head : null,
  )
  const alone = (heads.get(null) ?? []).map(environmentNode)
  const roots = lineage.roots.map((root) => nodeOf(root, lineage, heads))
  return [...roots, ...alone].sort((a, b) => a.createdAt - b.createdAt)
}

/** The whole tree that contains this environment or snapshot. */
export function treeAround(roots: readonly TreeNode[], id: EnvironmentId | SnapshotId): TreeNode[] {
  return roots.filter((root) => contains(root, id))
}

function contains(root: TreeNode, id: EnvironmentId | SnapshotId): boolean {
  const nodes: TreeNode[] = [root]
  for (const node of nodes) {
    if (node.id === id) return true
    if (node.kind === 'snapshot') nodes.push(...node.children)
  }
  return false
}

type Heads = ReadonlyMap<SnapshotId | null, readonly EnvironmentRecord[]>

/** Built from the leaves up, so that no chain is too long for the stack. */
function nodeOf(
  root: SnapshotRecord,
  lineage: Lineage<SnapshotRecord>,
  heads: Heads,
): SnapshotNode {
  const made = new Map<SnapshotId, SnapshotNode>()
  for (const snapshot of lineage.descendantsOf(root.id)) {
    made.set(snapshot.id, snapshotNode(snapshot, lineage, heads, made))
  }
  return snapshotNode(root, lineage, heads, made)
}

function snapshotNode(
  snapshot: SnapshotRecord,
  lineage: Lineage<SnapshotRecord>,
  heads: Heads,
  made: ReadonlyMap<SnapshotId, SnapshotNode>,
): SnapshotNode {
  const { id, name, status, createdAt, durable, message, captured, environmentId, by } = snapshot
  const { labels } = snapshot
  const below = lineage.childrenOf(id).flatMap((child) => made.get(child.id) ?? [])
  return {
    kind: 'snapshot',
    id,
    name,
    status,
    createdAt,
    durable,
    message,
    captured,
    environmentId,
    by,
    ownBytes: ownBytesOf(snapshot),
    labels,
    children: [...(heads.get(id) ?? []).map(environmentNode), ...below],
  }
}

function environmentNode(environment: EnvironmentRecord): EnvironmentNode {
  const { id, name, status, createdAt, labels } = environment
  return { kind: 'environment', id, name, status, createdAt, labels }
}

function ownBytesOf({ sizes }: Pick<SnapshotRecord, 'sizes'>): number | null {
  return sizes.filesBytes === null ? null : sizes.filesBytes + sizes.imagesBytes
}
