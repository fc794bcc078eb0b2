import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { SpareRecord } from '../../model/spare.ts'

/** A branch that somebody is likely to ask for next. */
export type Want =
  | {
      readonly kind: 'restore'
      readonly snapshot: SnapshotId
      readonly environmentId: EnvironmentId
    }
  /** the first, second, … of those ready at the same time */
  | { readonly kind: 'fork'; readonly snapshot: SnapshotId; readonly ordinal: number }

/** A restore is likelier than a fork. */
export function afterSnapshot({ id, environmentId }: SnapshotRecord): Want[] {
  return [
    { kind: 'restore', snapshot: id, environmentId },
    { kind: 'fork', snapshot: id, ordinal: 1 },
  ]
}

/** Whoever restored a snapshot once will restore it again. */
export function afterRestore(snapshot: SnapshotId, environmentId: EnvironmentId): Want[] {
  return [{ kind: 'restore', snapshot, environmentId }]
}

/** Whoever forked a snapshot will make as many forks again. */
export function afterFork(snapshot: SnapshotId, made: number): Want[] {
  return Array.from({ length: made }, (_, index) => ({
    kind: 'fork',
    snapshot,
    ordinal: index + 1,
  }))
}

/** For spares that had to go for another reason. */
export function sameAgain(spares: readonly SpareRecord[]): Want[] {
  const forks = spares.filter(({ kind }) => kind === 'fork')
  const bySnapshot = Map.groupBy(forks, ({ snapshot }) => snapshot)
  return [
    ...[...bySnapshot].flatMap(([snapshot, made]) => afterFork(snapshot, made.length)),
    ...spares
      .filter(({ kind }) => kind === 'restore')
      .flatMap(({ snapshot, environmentId }) => afterRestore(snapshot, environmentId)),
  ]
}

/** The wants to serve, in order. Only the latest fit: their spares would push out the others. */
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

/** Whether enough spares exist or are being made. */
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

/** The spares to end so that the others fit: the oldest first. */
export function surplus<T extends Pick<SpareRecord, 'memoryBytes'>>(
  spares: readonly T[],
  { count, memoryBytes }: Room,
): T[] {
  let kept = 0
  let bytes = 0
  const newestFirst = spares.toReversed()
  const firstTooMany = newestFirst.findIndex((spare) => {
    kept += 1
    bytes += spare.memoryBytes
    return kept > count || bytes > memoryBytes
  })
  return firstTooMany === -1 ? [] : newestFirst.slice(firstTooMany).reverse()
}

/** The first of these that take as many bytes together; none if all of them take less. */
export function enoughFor<T extends Pick<SpareRecord, 'memoryBytes'>>(
  bytes: number,
  spares: readonly T[],
): T[] {
  let sum = 0
  const last = spares.findIndex(({ memoryBytes }) => {
    sum += memoryBytes
    return sum >= bytes
  })
  return spares.slice(0, last + 1)
}
