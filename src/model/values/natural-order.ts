interface Aged {
  readonly createdAt: number
  readonly name: string | null
}

/** Oldest first. Forks of one call may have the same age; then `try-2` comes before `try-10`. */
export function byAgeAndName(a: Aged, b: Aged): number {
  const byName = (a.name ?? '').localeCompare(b.name ?? '', 'en', { numeric: true })
  return a.createdAt - b.createdAt || byName
}
