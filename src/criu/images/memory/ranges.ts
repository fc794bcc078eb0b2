import type { Addresses } from './pages.ts'

/** Ranges in order, with those that overlap or touch joined. */
export function joinRanges(ranges: readonly Addresses[]): Addresses[] {
  const joined: { start: number; end: number }[] = []
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else if (end > start) joined.push({ start, end })
  }
  return joined
}

/** The parts of `pieces` that lie in `ranges`. Both are in order, and neither overlaps itself. */
export function intersect<P extends Addresses>(
  pieces: readonly P[],
  ranges: readonly Addresses[],
  cut: (piece: P, part: Addresses) => P,
): P[] {
  const parts: P[] = []
  let next = 0
  for (const piece of pieces) {
    while ((ranges[next]?.end ?? Number.POSITIVE_INFINITY) <= piece.start) next += 1
    for (let at = next; at < ranges.length; at += 1) {
      const range = ranges[at]
      if (!range || range.start >= piece.end) break
      const start = Math.max(piece.start, range.start)
      const end = Math.min(piece.end, range.end)
      parts.push(start === piece.start && end === piece.end ? piece : cut(piece, { start, end }))
    }
  }
  return parts
}

/** What is left of `ranges` without `taken`. Both are in order, and neither overlaps itself. */
export function subtract(ranges: readonly Addresses[], taken: readonly Addresses[]): Addresses[] {
  const left: Addresses[] = []
  let next = 0
  for (const { start, end } of ranges) {
    while ((taken[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next += 1
    let at = start
    for (let index = next; index < taken.length && at < end; index += 1) {
      const other = taken[index]
      if (!other || other.start >= end) break
      if (other.start > at) left.push({ start: at, end: other.start })
      at = Math.max(at, other.end)
    }
    if (at < end) left.push({ start: at, end })
  }
  return left
}

export function lengthOf(ranges: readonly Addresses[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0)
}

/** The one of `ranges` that has the address. They are in order, and do not overlap. */
export function rangeWith<R extends Addresses>(
  ranges: readonly R[],
  address: number,
): R | undefined {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle]?.end ?? 0) <= address) low = middle + 1
    else high = middle
  }
  const range = ranges[low]
  return range && range.start <= address ? range : undefined
}
