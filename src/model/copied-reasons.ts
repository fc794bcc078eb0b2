import type { SnapshotMemory } from './snapshot.ts'

/** Memory that is copied for one reason, of all processes of one name. */
export interface CopiedReason {
  readonly command: string
  readonly why: string
  readonly bytes: number
}

/** Less than this is not worth mentioning. */
const leastBytes = 1024 ** 2

/** What each copy of a snapshot gets a copy of, and why, the most first. */
export function copiedReasons({ processes }: Pick<SnapshotMemory, 'processes'>): CopiedReason[] {
  const sums = new Map<string, CopiedReason>()
  for (const { command, shared, copiedBytes, why: whole, copied } of processes) {
    // Snapshots of earlier versions say why only if nothing is shared.
    const parts = copied ?? (shared ? [] : [{ bytes: copiedBytes, why: whole }])
    for (const { bytes, why } of parts) {
      const key = JSON.stringify([command, why])
      sums.set(key, { command, why, bytes: (sums.get(key)?.bytes ?? 0) + bytes })
    }
  }
  return [...sums.values()]
    .filter(({ bytes }) => bytes >= leastBytes)
    .toSorted((a, b) => b.bytes - a.bytes)
}
