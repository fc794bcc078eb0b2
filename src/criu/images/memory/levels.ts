import { type Older, olderPart } from './older.ts'
import { inheritedIn, type Pagemap, stretchesOf } from './pagemap.ts'
import type { Addresses } from './pages.ts'
import { intersect, joinRanges } from './ranges.ts'

/** The pages of a process in one of several dumps, each of which may refer to the one before it. */
export interface Level {
  readonly pagemap: Pagemap
  /** path of the pages file */
  readonly pages: string
}

/** Where some pages really are. */
export interface Placed extends Older {
  readonly from: { readonly kind: 'image'; readonly path: string; readonly offset: number }
  /** index of the dump */
  readonly level: number
}

/** Finds pages in dumps, newest first. In order of addresses; what no dump has is left out. */
export function placesIn(levels: readonly Level[], wanted: readonly Addresses[]): Placed[] {
  const found: Placed[] = []
  let left = wanted
  levels.forEach(({ pagemap, pages: path }, level) => {
    const present = stretchesOf(pagemap).map(({ start, end, offset }): Placed => {
      return { start, end, from: { kind: 'image', path, offset }, level }
    })
    found.push(...intersect(present, left, placedPart))
    left = intersect(left, joinRanges(inheritedIn(pagemap)), (_, part) => part)
  })
  return found.toSorted((a, b) => a.start - b.start)
}

function placedPart(placed: Placed, part: Addresses): Placed {
  const { from } = olderPart(placed, part)
  return from.kind === 'image' ? { ...part, from, level: placed.level } : placed
}
