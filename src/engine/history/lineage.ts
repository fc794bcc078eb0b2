import type { SnapshotId } from '../../model/ids.ts'

interface Descended {
  readonly id: SnapshotId
  readonly parent: SnapshotId | null
}

/** Which snapshot builds on which. */
export interface Lineage<T extends Descended> {
  get(id: SnapshotId): T | undefined
  readonly roots: readonly T[]
  childrenOf(id: SnapshotId): readonly T[]
  /** Nearest first, without itself. */
  ancestorsOf(id: SnapshotId): T[]
  /** Without itself, each after those that build on it: the order in which they can be removed. */
  descendantsOf(id: SnapshotId): T[]
  /** All of them, each after those that build on it. */
  leavesFirst(): T[]
}

/** Siblings keep their order. A snapshot whose parent is not in the list is a root. */
export function lineageOf<T extends Descended>(snapshots: readonly T[]): Lineage<T> {
  const byId = new Map(snapshots.map((snapshot) => [snapshot.id, snapshot]))
  const children = new Map<SnapshotId, T[]>()
  const roots: T[] = []
  for (const snapshot of snapshots) {
    const { parent } = snapshot
    if (parent === null || !byId.has(parent)) roots.push(snapshot)
    else children.set(parent, [...(children.get(parent) ?? []), snapshot])
  }
  const childrenOf = (id: SnapshotId): readonly T[] => children.get(id) ?? []
  // A list instead of recursion, because chains can have any length.
  const descendantsOf = (id: SnapshotId): T[] => {
    const found = [...childrenOf(id)]
    for (const snapshot of found) found.push(...childrenOf(snapshot.id))
    return found.reverse()
  }
  return {
    get: (id) => byId.get(id),
    roots,
    childrenOf,
    ancestorsOf: (id) => {
      const found: T[] = []
      for (let at = byId.get(id)?.parent ?? null; at !== null; ) {
        const ancestor = byId.get(at)
        if (ancestor === undefined) break
        found.push(ancestor)
        at = ancestor.parent
      }
      return found
    },
    descendantsOf,
    leavesFirst: () => roots.flatMap((root) => [...descendantsOf(root.id), root]),
  }
}
