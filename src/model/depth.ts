/** Whether arrays and objects lie deeper in each other than `most`, as they do for ever in a cycle. */
export function isDeeperThan(most: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (most === 0) return true
  return Object.values(value).some((inner) => isDeeperThan(most - 1, inner))
}
