import { isAtOrUnder, outermost, treeKey } from '../../../../linux/mask/outermost.ts'

/** Returns a function that finds which of the outermost `paths` a path equals or lies below. */
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

/** Index of the last key that is not greater than this one; -1 if all are. */
function lastUpTo(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] ?? '') <= key) low = middle + 1
    else high = middle
  }
  return low - 1
}
