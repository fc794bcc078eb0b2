import type { SnapshotId } from '../../model/ids.ts'

interface Descended {
  readonly id: SnapshotId
  readonly parent: SnapshotId | null
}

/** Who builds on whom. */
export interface Lineage<T extends Descended> {
  get(id: SnapshotId): T | undefined
  readonly roots: readonly T[]
  childrenOf(id: SnapshotId): readonly T[]
  /** Nearest first, without itself. */
  ancestorsOf(id: SnapshotId): T[]
  /** Every one after those that build on it, without itself: the order in which they can go. */
  descendantsOf(id: SnapshotId): T[]
  /** All of them, every one after those that build on it. */
  leavesFirst(): T[]
}

/** Siblings keep the order they are given in. A parent that is not among them makes a root. */
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
  // A list and not a recursion: chains are as long as their owner likes.
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
