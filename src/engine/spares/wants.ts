import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { SpareRecord } from '../../model/spare.ts'

/** A branch that is likely to be asked for next. */
export type Want =
  | {
      readonly kind: 'restore'
      readonly snapshot: SnapshotId
      readonly environmentId: EnvironmentId
    }
  /** the first, second, … of those that are ready at the same time */
  | { readonly kind: 'fork'; readonly snapshot: SnapshotId; readonly ordinal: number }

/** Going back is likelier than branching. */
export function afterSnapshot({ id, environmentId }: SnapshotRecord): Want[] {
  return [
    { kind: 'restore', snapshot: id, environmentId },
    { kind: 'fork', snapshot: id, ordinal: 1 },
  ]
}

/** What was gone back to once is gone back to again. */
export function afterRestore(snapshot: SnapshotId, environmentId: EnvironmentId): Want[] {
  return [{ kind: 'restore', snapshot, environmentId }]
}

/** As many again. */
export function afterFork(snapshot: SnapshotId, made: number): Want[] {
  return Array.from({ length: made }, (_, index) => ({
    ...{ kind: 'fork', snapshot, ordinal: index + 1 },
  }))
}

/** The wants to work off, in order: only the latest, as what they make would end the others. */
export function enqueue(queue: readonly Want[], wants: readonly Want[], most: number): Want[] {
  const fresh = wants.slice(0, most)
  const older = queue.filter((known) => !fresh.some((want) => isSame(want, known)))
  const room = most - fresh.length
  return [...(room === 0 ? [] : older.slice(-room)), ...fresh]
}

function isSame(a: Want, b: Want): boolean {
  if (a.kind !== b.kind || a.snapshot !== b.snapshot) return false
  return a.kind === 'restore' && b.kind === 'restore'
    ? a.environmentId === b.environmentId
    : a.kind === 'fork' && b.kind === 'fork' && a.ordinal === b.ordinal
}

/** Whether what is there, or being made, is enough. */
export function isMet(want: Want, spares: readonly SpareRecord[]): boolean {
  const alike = spares.filter(
    ({ kind, snapshot, environmentId }) =>
      kind === want.kind &&
      snapshot === want.snapshot &&
      (want.kind === 'fork' || environmentId === want.environmentId),
  )
  return alike.length >= (want.kind === 'fork' ? want.ordinal : 1)
}

export interface Room {
  readonly count: number
  readonly memoryBytes: number
}

/** Those to end, of all oldest first, so that the others fit. */
export function surplus<T extends Pick<SpareRecord, 'memoryBytes'>>(
  spares: readonly T[],
  { count, memoryBytes }: Room,
): T[] {
  let kept = 0
  let bytes = 0
  const newestFirst = spares.toReversed()
  const fits = newestFirst.findIndex((spare) => {
    kept += 1
    bytes += spare.memoryBytes
    return kept > count || bytes > memoryBytes
  })
  return fits === -1 ? [] : newestFirst.slice(fits).reverse()
}
