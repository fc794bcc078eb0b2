import { type Level, type Placed, placesIn } from '../images/memory/levels.ts'
import { type Older, olderPart } from '../images/memory/older.ts'
import type { Addresses } from '../images/memory/pages.ts'
import { intersect, joinRanges, lengthOf } from '../images/memory/ranges.ts'
import type { Previous } from './previous.ts'

/** CRIU opens the dumps of a chain one by one, and we hold links to all of them. */
const mostLevels = 8

interface Ancestry {
  readonly older: readonly Older[]
  /** the one dump that pages are inherited from; null: the snapshot before, and those it inherits from */
  readonly base: Level | null
}

/**
 * Where a process finds the pages that it inherits. Each snapshot would make the chain of dumps longer. So
 * from time to time everything but the oldest dump, which has most pages, is copied together; and that
 * one, too, if there is not much left of it.
 */
export function ancestryOf(
  { chains, contents, depth }: Pick<Previous, 'chains' | 'contents' | 'depth'>,
  pid: number,
  clean: readonly Addresses[],
): Ancestry {
  const older = contents.get(pid) ?? []
  if (depth < mostLevels) return { older, base: null }
  return flattened(older, chains(pid), clean)
}

/** Pure, for all that it does not read. */
export function flattened(
  older: readonly Older[],
  levels: readonly Level[],
  clean: readonly Addresses[],
): Ancestry {
  const paged = older.filter(({ from }) => from.kind === 'pages')
  const wanted = intersect(paged, joinRanges(clean), olderPart)
  const placed = placesIn(levels, wanted)
  const last = levels.length - 1
  const kept = placed.filter(({ level }) => level === last)
  const isWorthKeeping = lengthOf(kept) > lengthOf(placed) / 2
  const base = isWorthKeeping ? (levels[last] ?? null) : null
  const pages = placed.map(
    (piece): Older => (base !== null && piece.level === last ? inherited(piece) : piece),
  )
  const others = older.filter(({ from }) => from.kind !== 'pages')
  return { older: [...pages, ...others].toSorted((a, b) => a.start - b.start), base }
}

function inherited({ start, end }: Placed): Older {
  return { start, end, from: { kind: 'pages' } }
}
