import type { Layer } from '../../cell/cell.ts'
import { coverOf } from './cover.ts'
import { isBelow, outermost } from './paths.ts'
import type { LayerEntry } from './records.ts'

/** Two stacks of layers without what lies under both. */
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

/** Whether a layer's entry hides what the common ones hold at its path, and all that is below. */
export function isHiding({ type, opaque }: Pick<LayerEntry, 'type' | 'opaque'>): boolean {
  return type !== 'directory' || opaque
}

/**
 * Where the common layers show through on one side only. Everything below has to be looked at on
 * both sides, although no layer that differs names it: a directory is deleted by one whiteout.
 */
export function uncoveredPaths(a: readonly string[], b: readonly string[]): string[] {
  if (a.length === 0 || b.length === 0) return outermost(a.concat(b))
  const [hiddenByA, hiddenByB] = [coverOf(a), coverOf(b)]
  const onlyInA = a.filter((path) => hiddenByB(path) === undefined)
  const onlyInB = b.filter((path) => hiddenByA(path) === undefined)
  return outermost(onlyInA.concat(onlyInB))
}

/** The parts of `roots` that lie below one of `filters`, and of `filters` that lie below a root. */
export function restrict(roots: readonly string[], filters: readonly string[] | null): string[] {
  if (filters === null) return [...roots]
  const kept = roots.flatMap((root) =>
    filters.flatMap((filter) =>
      isBelow(root, filter) ? [root] : isBelow(filter, root) ? [filter] : [],
    ),
  )
  return outermost(kept)
}
