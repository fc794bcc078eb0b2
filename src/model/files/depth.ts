/** Whether arrays and objects are nested deeper than `most` levels, as a cycle always is. */
export function isDeeperThan(most: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (most === 0) return true
  return Object.values(value).some((inner) => isDeeperThan(most - 1, inner))
}
