import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  intersect,
  joinRanges,
  lengthOf,
  subtract,
} from '../../../../src/criu/images/memory/ranges.ts'
import { decodePages, encodeKnown } from '../../../../src/criu/tracking/page-ranges.ts'

const range = fc.tuple(fc.nat(1000), fc.integer({ min: 1, max: 50 })).map(([start, length]) => ({
  start,
  end: start + length,
}))
const ranges = fc.array(range, { maxLength: 20 }).map(joinRanges)

function points(all: readonly { start: number; end: number }[]): Set<number> {
  return new Set(
    all.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i)),
  )
}

test('ranges are sets of addresses', () => {
  fc.assert(
    fc.property(ranges, ranges, (some, others) => {
      const [a, b] = [points(some), points(others)]
      const both = intersect(some, others, (_, part) => part)
      expect(points(both)).toEqual(a.intersection(b))
      expect(points(subtract(some, others))).toEqual(a.difference(b))
      expect(points(joinRanges([...some, ...others]))).toEqual(a.union(b))
      expect(lengthOf(some)).toBe(a.size)
    }),
  )
})

test('what CRIU is told about, as words of 64 bits', () => {
  const start = 0x7fff_ffff_e000
  const bytes = encodeKnown(new Map([[42, [{ start, end: start + 4096 }]]]))
  expect([0, 8, 16, 24].map((at) => Number(bytes.readBigUInt64LE(at)))).toEqual([
    42,
    1,
    start,
    start + 4096,
  ])
})

test('what CRIU left out is joined by process; half a note is refused', () => {
  const words = [7, 0x1000, 0x2000, 9, 0x5000, 0x6000, 7, 0x2000, 0x4000]
  const bytes = Buffer.from(BigUint64Array.from(words, BigInt).buffer)
  expect(decodePages(bytes)).toEqual(
    new Map([
      [7, [{ start: 0x1000, end: 0x4000 }]],
      [9, [{ start: 0x5000, end: 0x6000 }]],
    ]),
  )
  expect(() => decodePages(bytes.subarray(0, -8))).toThrow(/cut off/)
})
