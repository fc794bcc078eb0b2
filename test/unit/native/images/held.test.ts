import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeldSearch, leadBytes } from '../../../../src/criu/images/memory/held.ts'
import { kinds, mmOf, page } from './layouts.ts'

const start = 0x7f12_3456_7000
const type = 0x5555_0000_1240

/** 80 pages with different properties. */
const mm = mmOf({
  areas: [
    { kind: kinds.anonymous, start, end: start + 60 * page, pgoff: 0 },
    { kind: kinds.guard, start: start + 60 * page, end: start + 70 * page, pgoff: 0 },
    { kind: kinds.locked, start: start + 70 * page, end: start + 80 * page, pgoff: 0 },
  ],
  present: new Set(),
})

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(leadBytes + values.length * 8)
  for (const [at, value] of values.entries()) {
    bytes.writeBigUInt64LE(BigInt(value), leadBytes + at * 8)
  }
  return bytes
}

function found(...values: number[]) {
  const search = new HeldSearch(mm)
  search.search(words(...values))
  return search.found
}

test('an object that holds a mapping is found wherever it is', () => {
  const gap = fc.array(fc.integer({ min: 0, max: 2 ** 46 }).map((one) => one * 2 + 1))
  const pages = fc.integer({ min: 0, max: 79 })
  fc.assert(
    fc.property(gap, pages, pages, gap, (before, first, last, after) => {
      fc.pre(first <= last)
      const [address, length] = [start + first * page, (last - first) * page + 7]
      const object = [3, type, address, length, 0, 0]
      expect(found(...before, ...object, ...after)).toEqual([
        { start: address, end: address + (last - first + 1) * page },
      ])
    }),
  )
})

test('an object is found even if it lies across two pieces', () => {
  const object = words(3, type, start, page)
  for (let cut = leadBytes; cut <= object.length; cut += 8) {
    const search = new HeldSearch(mm)
    const [first, second] = [object.subarray(0, cut), object.subarray(cut)]
    search.search(Buffer.from(first))
    search.search(Buffer.concat([first.subarray(-leadBytes), second]))
    expect(search.found, `cut at ${cut}`).toEqual([{ start, end: start + page }])
  }
})

test('numbers that are no mapping, or no object, are not found', () => {
  expect(found(type, start + 8, page)).toEqual([])
  expect(found(type, start, 0)).toEqual([])
  expect(found(type, start, 81 * page)).toEqual([])
  expect(found(type, start + 80 * page, page)).toEqual([])
  expect(found(0, start, page)).toEqual([])
  expect(found(type + 1, start, page)).toEqual([])
})

test('what a call has just returned counts up to the end of what is mapped there', () => {
  const search = new HeldSearch(mm)
  search.returned(start + 3 * page)
  search.returned(start + 3 * page + 1)
  search.returned(start + 90 * page)
  expect(search.found).toEqual([{ start: start + 3 * page, end: start + 80 * page }])
})
