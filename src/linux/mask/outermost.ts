export function isBelow(path: string, above: string): boolean {
  return above === '/' || path === above || path.startsWith(`${above}/`)
}

/**
 * A key that sorts paths as a tree: what is below a directory directly follows it. NUL separates the
 * components, because it sorts before every character of a name.
 */
export function treeKey(path: string): string {
  return path.slice(1).replaceAll('/', '\0')
}

/** Without paths that lie below another one of the list; sorted as a tree. */
export function outermost(paths: Iterable<string>): string[] {
  const kept: string[] = []
  for (const key of Array.from(paths, treeKey).sort()) {
    const last = kept.at(-1)
    if (last === undefined || !isAtOrUnder(key, last)) kept.push(key)
  }
  return kept.map(pathOfKey)
}

export function pathOfKey(key: string): string {
  return `/${key.replaceAll('\0', '/')}`
}

/** Compares two keys, not paths. */
export function isAtOrUnder(key: string, above: string): boolean {
  if (above === '') return true
  return key.startsWith(above) && (key.length === above.length || key[above.length] === '\0')
}
