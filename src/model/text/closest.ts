/** The candidates that `word` may be a misspelling of, nearest first, at most `count`. */
export function closest(word: string, candidates: Iterable<string>, count = 3): string[] {
  const wanted = word.toLowerCase()
  // A third of the word may be wrong: one typo in a short word, several in a long one.
  const tolerance = Math.max(1, Math.floor(wanted.length / 3))
  const near: { candidate: string; distance: number }[] = []
  for (const candidate of new Set(candidates)) {
    const distance = distanceWithin(wanted, candidate.toLowerCase(), tolerance)
    if (distance <= tolerance) near.push({ candidate, distance })
  }
  near.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
  return near.slice(0, count).map(({ candidate }) => candidate)
}

/** Optimal string alignment: insertions, deletions, substitutions and swapped neighbours. */
function distanceWithin(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const cheapest = Math.min(
        at(last, j) + 1,
        at(row, j - 1) + 1,
        at(last, j - 1) + (same ? 0 : 1),
      )
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(swapped ? Math.min(cheapest, at(beforeLast, j - 2) + 1) : cheapest)
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
