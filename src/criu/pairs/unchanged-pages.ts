import type { Addresses } from '../images/memory/pages.ts'
import { intersect, joinRanges, subtract } from '../images/memory/ranges.ts'
import type { SearchedPages } from './searched-pages.ts'

const pageBytes = 4096

/** Names the content of a file: two paths with the same one lead to the same bytes. */
export type IdentityOf = (path: string) => string

/** Ranges of addresses by process, in order. */
export type RangesByProcess = ReadonlyMap<number, readonly Addresses[]>

/** Where `pages` are those of `before`: the same bytes of the same file at the same address. */
export function unchangedRanges(
  pages: readonly SearchedPages[],
  before: readonly SearchedPages[],
  identityOf: IdentityOf,
): RangesByProcess {
  const contentOf = ({ path, offset, start }: SearchedPages) =>
    `${identityOf(path)} ${offset - start}`
  const earlier = Map.groupBy(before, ({ pid }) => pid)
  const unchanged = new Map<number, Addresses[]>()
  for (const [pid, own] of Map.groupBy(pages, (each) => each.pid)) {
    const sameContent = Map.groupBy(earlier.get(pid) ?? [], contentOf)
    const ranges = [...Map.groupBy(own, contentOf)].flatMap(([content, parts]) =>
      intersect<Addresses>(parts, sameContent.get(content) ?? [], (_, part) => part),
    )
    unchanged.set(pid, joinRanges(ranges))
  }
  return unchanged
}

/** The pages that are left, and the one on each side of them: a pair may lie across their edge. */
export function pagesOutside(
  pages: readonly SearchedPages[],
  unchanged: RangesByProcess,
): SearchedPages[] {
  return [...Map.groupBy(pages, ({ pid }) => pid)].flatMap(([pid, own]) => {
    const changed = subtract(own, unchanged.get(pid) ?? [])
    const wider = changed.map(({ start, end }) => {
      return { start: start - pageBytes, end: end + pageBytes }
    })
    return intersect(own, joinRanges(wider), cut)
  })
}

function cut(pages: SearchedPages, { start, end }: Addresses): SearchedPages {
  return { ...pages, start, end, offset: pages.offset + start - pages.start }
}
