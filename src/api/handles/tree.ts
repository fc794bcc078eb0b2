import type { FlatNode, SnapshotNode, TreeNode } from '../contract/data/store.ts'

/** Turns a list, in which each node comes after its parent, into a forest. Works at any depth. */
export function nested(list: readonly FlatNode[]): TreeNode[] {
  const roots: TreeNode[] = []
  const below: TreeNode[][] = []
  for (const { above, node } of list) {
    const children: TreeNode[] = []
    const made: TreeNode =
      node.kind === 'environment' ? node : ({ ...node, children } satisfies SnapshotNode)
    below.push(children)
    const siblings = above === null ? roots : (below[above] ?? roots)
    siblings.push(made)
  }
  return roots
}
