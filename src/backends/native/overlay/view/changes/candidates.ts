import { isBelow, outermost } from '../../../../../linux/mask/outermost.ts'
import type { Layer } from '../../../cell/cell.ts'
import { coverOf } from '../cover.ts'
import type { LayerEntry } from '../records.ts'

/** Two stacks of layers, split into the common layers at the bottom and the rest of each. */
export interface Difference {
  readonly a: readonly Layer[]
  readonly b: readonly Layer[]
  readonly common: readonly Layer[]
}

export function splitLayers(a: readonly Layer[], b: readonly Layer[]): Difference {
  let shared = 0
  while (shared < a.length && shared < b.length) {
    const [left, right] = [a.at(-1 - shared), b.at(-1 - shared)]
    if (left?.path !== right?.path || left?.ids !== right?.ids) break
    shared += 1
  }
  return {
    a: a.slice(0, a.length - shared),
    b: b.slice(0, b.length - shared),
    common: a.slice(a.length - shared),
  }
}

/** Whether an entry hides what the common layers hold at its path and below. */
export function isHiding({ type, opaque }: Pick<LayerEntry, 'type' | 'opaque'>): boolean {
  return type !== 'directory' || opaque
}

/**
 * Where the common layers are visible on one side only. Everything below must be compared, even though
 * no other layer lists it: one whiteout deletes a whole directory.
 */
export function uncoveredPaths(a: readonly string[], b: readonly string[]): string[] {
  if (a.length === 0 || b.length === 0) return outermost(a.concat(b))
  const [hiddenByA, hiddenByB] = [coverOf(a), coverOf(b)]
  const onlyInA = a.filter((path) => hiddenByB(path) === undefined)
  const onlyInB = b.filter((path) => hiddenByA(path) === undefined)
  return outermost(onlyInA.concat(onlyInB))
}

/** The `roots` that lie below one of `filters`, and the `filters` that lie below a root. */
export function restrict(roots: readonly string[], filters: readonly string[] | null): string[] {
  if (filters === null) return [...roots]
  const kept = roots.flatMap((root) =>
    filters.flatMap((filter) =>
      isBelow(root, filter) ? [root] : isBelow(filter, root) ? [filter] : [],
    ),
  )
  return outermost(kept)
}
