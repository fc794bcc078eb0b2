// Which memory of a snapshot is that of the one before, and need not be searched again.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SearchedPages } from '../../../../src/criu/pairs/searched-pages.ts'
import {
  pagesOutside,
  type RangesByProcess,
  unchangedRanges,
} from '../../../../src/criu/pairs/unchanged-pages.ts'

const page = 4096

/** One page a name: the number of a page in a file, or null where there is none. */
const memory = fc.array(fc.option(fc.record({ file: fc.nat(1), at: fc.nat(3) })), { maxLength: 12 })
type Memory = typeof memory extends fc.Arbitrary<infer Value> ? Value : never

function pagesOf(content: Memory): SearchedPages[] {
  return content.flatMap((one, index) => {
    if (one === null) return []
    const start = index * page
    return [{ pid: 7, start, end: start + page, path: `file-${one.file}`, offset: one.at * page }]
  })
}

const has = (ranges: RangesByProcess, pid: number, address: number) =>
  (ranges.get(pid) ?? []).some(({ start, end }) => start <= address && address < end)

const isSearched = (pages: readonly SearchedPages[], address: number) =>
  pages.some(({ start, end }) => start <= address && address < end)

test('every page is that of the snapshot before or searched, and so are the pages beside those', () => {
  fc.assert(
    fc.property(memory, memory, (before, after) => {
      const pages = pagesOf(after)
      const unchanged = unchangedRanges(pages, pagesOf(before), (path) => path)
      const searched = pagesOutside(pages, unchanged)
      const isSame = (index: number) =>
        JSON.stringify(before[index] ?? null) === JSON.stringify(after[index])
      after.forEach((one, index) => {
        if (one === null) return
        expect(has(unchanged, 7, index * page)).toBe(isSame(index))
        const beside = [index - 1, index, index + 1]
        const isNear = beside.some((other) => (after[other] ?? null) !== null && !isSame(other))
        expect(isSearched(searched, index * page)).toBe(isNear)
      })
    }),
  )
})

test('files are compared by what they are, and processes do not share what is known', () => {
  const one = { pid: 7, start: 0, end: 2 * page, path: 'a/pages', offset: page }
  const linked = { ...one, path: 'b/pages' }
  const same = (path: string) => path.slice(2)
  expect(unchangedRanges([linked], [one], same)).toEqual(
    new Map([[7, [{ start: 0, end: 2 * page }]]]),
  )
  expect(unchangedRanges([{ ...linked, pid: 8 }], [one], same)).toEqual(new Map([[8, []]]))
  expect(
    pagesOutside(
      [linked],
      unchangedRanges([linked], [one], (path) => path),
    ),
  ).toEqual([linked])
})

test('a part of a run is searched at its own place in the file', () => {
  const run = { pid: 7, start: 8 * page, end: 16 * page, path: 'file', offset: 0 }
  const before = [
    { ...run, end: 10 * page },
    { ...run, start: 11 * page, offset: 3 * page },
  ]
  const unchanged = unchangedRanges([run], before, (path) => path)
  expect(pagesOutside([run], unchanged)).toEqual([
    { ...run, start: 9 * page, end: 12 * page, offset: page },
  ])
})
