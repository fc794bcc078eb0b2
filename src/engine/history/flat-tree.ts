import type { FlatNode, TreeNode } from '../../api/contract/data/store.ts'

/** Lists a forest so that each node comes after its parent. Works at any depth, without recursion. */
export function flatTree(roots: readonly TreeNode[]): FlatNode[] {
  const list: FlatNode[] = []
  const waiting: { readonly above: number | null; readonly node: TreeNode }[] = []
  for (const node of roots) waiting.push({ above: null, node })
  for (const { above, node } of waiting) {
    const place = list.length
    if (node.kind === 'environment') {
      list.push({ above, node })
      continue
    }
    const { children, ...own } = node
    list.push({ above, node: own })
    for (const child of children) waiting.push({ above: place, node: child })
  }
  return list
}
