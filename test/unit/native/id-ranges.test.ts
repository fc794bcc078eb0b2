import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  freeAbandonedIds,
  freeIds,
  overlaps,
  takeIds,
} from '../../../src/backends/native/cell/id-ranges.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

test.each([
  ['1000-100', true],
  ['950-100', true],
  ['1099-1', true],
  ['1100-100', false],
  ['900-100', false],
  ['disk-1050-10', true],
  // As earlier versions wrote it.
  ['1', true],
  ['1100', false],
])('ids 1000 to 1099 and %s have ids in common: %s', (name, expected) => {
  expect(overlaps({ base: 1000, count: 100 }, name)).toBe(expected)
})

test('lives of homes with different settings never get the same ids', () => {
  using files = new TemporaryDirectory()
  // Enough of them that some would collide.
  const high = 2 ** 31 - 40_000
  const settings = [
    { base: high, count: 100 },
    { base: high + 50, count: 130 },
  ]
  const lives = Array.from({ length: 120 }, (_, index) => files.file(String(index)))
  try {
    const ranges = lives.map((life, index) => {
      mkdirSync(life)
      const { base, count } = settings[index % 2] ?? { base: high, count: 100 }
      return takeIds({ base, count }, life)
    })
    const sorted = ranges.toSorted((a, b) => a.base - b.base)
    for (const [index, { base, count }] of sorted.entries()) {
      expect(base + count).toBeLessThanOrEqual(sorted[index + 1]?.base ?? 2 ** 31)
    }
  } finally {
    for (const life of lives) freeIds(life)
    // The ids on disk stay claimed as long as the life that claimed them exists.
    for (const life of lives) rmSync(life, { recursive: true })
    freeAbandonedIds()
  }
  expect(readdirSync(files.path)).toEqual([])
})
