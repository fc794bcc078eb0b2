import { isAtOrUnder, outermost, treeKey } from './paths.ts'

/** Tells which of the outermost of `paths` a path is, or lies below. */
export function coverOf(paths: Iterable<string>): (path: string) => string | undefined {
  const roots = outermost(paths)
  const keys = roots.map(treeKey)
  return (path) => {
    if (keys.length === 0) return undefined
    const key = treeKey(path)
    const at = lastUpTo(keys, key)
    return isAtOrUnder(key, keys[at] ?? key) ? roots[at] : undefined
  }
}

/** Index of the last key that does not come after this one; -1 if all do. */
function lastUpTo(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] ?? '') <= key) low = middle + 1
    else high = middle
  }
  return low - 1
}
