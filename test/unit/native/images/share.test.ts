import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeAreas, usedFiles } from '../../../../src/criu/images/memory/areas.ts'
import type { SharingLimits } from '../../../../src/criu/images/memory/cuts.ts'
import { ownPages } from '../../../../src/criu/images/memory/own-pages.ts'
import {
  decodePagemap,
  pagesIdOf,
  stretchesOf,
} from '../../../../src/criu/images/memory/pagemap.ts'
import { shareMemory } from '../../../../src/criu/images/memory/share.ts'
import { kinds, type Layout, layouts, page, pagemapStyles } from './layouts.ts'
import { expectUnnoticed, SimulatedProcess } from './simulated-process.ts'

const limits: fc.Arbitrary<SharingLimits> = fc.record({
  minRunPages: fc.integer({ min: 1, max: 20 }),
  mostVmas: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(1000)),
})
const noLimits = { minRunPages: 1, mostVmas: 1000 }
const style42 = { version: '4.2', longest: 1000 } as const

/** The dump's pages file becomes file `fileId`, and what is left over a new one. */
function share(process: SimulatedProcess, fileId: number, within: SharingLimits) {
  const shared = shareMemory(process.images, fileId, within)
  if (shared === null) return null
  process.files.set(fileId, process.pages)
  process.pages = shared.leftovers.flatMap((range) => process.rangeOf(range))
  process.images = shared
  return shared
}

function own(process: SimulatedProcess, fileId: number) {
  const isPagesFile = (id: number) => process.files.has(id)
  const owned = ownPages(process.images, fileId, isPagesFile)
  if (owned === null) return null
  const pages = owned.copies.flatMap(({ from, length }) =>
    from.kind === 'page'
      ? process.rangeOf({ offset: from.offset, length })
      : Array.from({ length: length / page }, (_, at) =>
          process.fileAt(from.fileId, from.offset + at * page),
        ),
  )
  expect(pages.length * page).toBe(owned.bytes)
  process.files.set(fileId, pages)
  process.pages = owned.leftovers.flatMap((range) => process.rangeOf(range))
  process.images = owned
  return owned
}

function layoutOf(...areas: [keyof typeof kinds, pages: number, present: number][]): Layout {
  let at = 0x10000
  const present = new Set<number>()
  const laid = areas.map(([kind, pages, count]) => {
    const start = at
    for (let one = 0; one < count; one += 1) present.add(start + one * page)
    at += pages * page
    return { kind: kinds[kind], start, end: at, pgoff: 0 }
  })
  return { areas: laid, present }
}

test('images are decoded to what they were made from', () => {
  fc.assert(
    fc.property(layouts, pagemapStyles, (layout, style) => {
      const contents = new SimulatedProcess(layout, style).contents()
      for (const { kind, start, end, pgoff } of layout.areas) {
        for (let at = start; at < end; at += page) {
          const isFile = (kind.status & (64 | 128)) !== 0
          const beneath = isFile ? `file ${kind.fileId} at ${pgoff + at - start}` : 'zero'
          const isOther = !kind.isPrivate && !isFile
          const expected = layout.present.has(at) ? `first ${at}` : isOther ? 'other' : beneath
          expect(contents.get(at)).toBe(expected)
        }
      }
    }),
  )
})

test('a process with shared memory finds the same bytes at the same addresses', () => {
  fc.assert(
    fc.property(layouts, pagemapStyles, limits, (layout, style, within) => {
      const process = new SimulatedProcess(layout, style)
      const areasBefore = process.areas().length
      expectUnnoticed(process, () => {
        const shared = share(process, 100, within)
        if (shared === null) return
        expect(shared.vmas).toBe(process.areas().length)
        expect(shared.vmas).toBeLessThanOrEqual(Math.max(within.mostVmas, areasBefore))
        const left = shared.leftovers.reduce((sum, { length }) => sum + length, 0)
        expect(left).toBeGreaterThan(0)
        // The very last page is in both if all others were shared.
        const twice = left + shared.sharedBytes - layout.present.size * page
        expect([0, page]).toContain(twice)
        expect(pagesIdOf(shared.pagemap)).toBe(3)
      })
    }),
    { numRuns: 300 },
  )
})

test('every run that is long enough is shared, and nothing that must be left alone', () => {
  fc.assert(
    fc.property(layouts, pagemapStyles, fc.integer({ min: 1, max: 20 }), (layout, style, min) => {
      const process = new SimulatedProcess(layout, style)
      const alone = layout.areas.filter(({ kind }) => !kind.isShareable)
      const before = new Map(process.areas().map((area) => [area.start, area.entry]))
      share(process, 100, { minRunPages: min, mostVmas: 1000 })
      const after = new Map(process.areas().map((area) => [area.start, area.entry]))
      for (const { start } of alone) expect(after.get(start)).toEqual(before.get(start))
      const mapped = process.areas().filter(({ shmid }) => shmid === 100)
      for (const area of mapped) {
        expect(area).toMatchObject({ status: 65, fd: -1, fdflags: 0 })
        expect(area.flags & ~0x4000).toBe(2)
        expect(area.end - area.start).toBeGreaterThanOrEqual(min * page)
      }
      const unshared = stretchesOf(decodePagemap(process.images.pagemap))
      for (const { kind, start, end } of layout.areas.filter((area) => area.kind.isShareable)) {
        for (const stretch of unshared) {
          const inside = Math.min(stretch.end, end) - Math.max(stretch.start, start)
          // A single page is the one that stays for CRIU to look at.
          if (inside > page) expect(inside / page, kind.status.toString()).toBeLessThan(min)
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('a chain of snapshots stays exact, shared and made its own in any order', () => {
  const step = fc.record({
    dirt: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 25 })), { maxLength: 6 }),
    style: pagemapStyles,
    within: limits,
    surgery: fc.constantFrom(share, share, share, own),
  })
  fc.assert(
    fc.property(
      layouts,
      pagemapStyles,
      fc.array(step, { maxLength: 6 }),
      (layout, style, steps) => {
        const process = new SimulatedProcess(layout, style)
        share(process, 100, noLimits)
        for (const [at, { dirt, style, within, surgery }] of steps.entries()) {
          const writable = process.writable()
          const dirty = dirt.flatMap(([first, count]) => {
            const from = first % Math.max(writable.length, 1)
            return writable.slice(from, from + count)
          })
          process.runAndDump(new Set(dirty), style)
          expectUnnoticed(process, () => surgery(process, 101 + at, within))
        }
      },
    ),
    { numRuns: 200 },
  )
})

test('memory that was made its own refers only to the new file', () => {
  fc.assert(
    fc.property(layouts, pagemapStyles, (layout, style) => {
      const process = new SimulatedProcess(layout, style)
      share(process, 100, noLimits)
      process.runAndDump(new Set(process.writable().slice(5, 40)), style)
      share(process, 101, noLimits)
      process.runAndDump(new Set(process.writable().slice(20, 60)), style)
      const owned = own(process, 102)
      const used = usedFiles(process.images.mm)
      expect([used.has(100), used.has(101)]).toEqual([false, false])
      if (owned) expect(owned.vmas).toBe(process.areas().length)
    }),
  )
})

test('the parts of a data segment around its relocated pages keep their file', () => {
  const process = new SimulatedProcess(layoutOf(['data', 40, 20], ['stack', 4, 4]), style42)
  share(process, 100, { minRunPages: 16, mostVmas: 100 })
  expect(process.areas().map(({ shmid, pgoff }) => [shmid, pgoff / page])).toEqual([
    [100, 0],
    [7, 20],
    [0, 0],
    [0, 0],
  ])
})

test('if all pages could be shared, CRIU still finds one', () => {
  const process = new SimulatedProcess(layoutOf(['anonymous', 20, 20]), style42)
  const shared = share(process, 100, noLimits)
  expect(shared?.leftovers).toEqual([{ offset: 19 * page, length: page }])
})

test('runs must be longer if there would be too many areas', () => {
  const long = { kind: kinds.anonymous, start: 0x10000, end: 0x10000 + 400 * page, pgoff: 0 }
  const present = new Set<number>()
  for (let run = 0; run < 10; run += 1) {
    for (let at = 0; at <= run; at += 1) present.add(long.start + (run * 30 + at) * page)
  }
  const process = new SimulatedProcess({ areas: [long], present }, style42)
  // Seven runs of at least four pages make 15 areas, three of at least eight 7; vsyscall is one more.
  const shared = share(process, 100, { minRunPages: 2, mostVmas: 9 })
  expect(shared).toMatchObject({ vmas: 8, sharedBytes: (8 + 9 + 10) * page })
})

test('nothing is shared in a process with short runs or too many areas', () => {
  const short = new SimulatedProcess(layoutOf(['anonymous', 20, 15], ['stack', 30, 30]), style42)
  expect(shareMemory(short.images, 100, { minRunPages: 16, mostVmas: 100 })).toBeNull()
  const crowded = new SimulatedProcess(layoutOf(['anonymous', 20, 16], ['heap', 20, 16]), style42)
  expect(shareMemory(crowded.images, 100, { minRunPages: 16, mostVmas: 3 })).toBeNull()
  expect(ownPages(crowded.images, 100, () => false)).toBeNull()
})

test('the rest of mm is kept byte for byte', () => {
  const process = new SimulatedProcess(layoutOf(['anonymous', 20, 20], ['stack', 4, 4]), style42)
  const { image } = decodeAreas(process.images.mm)
  const tail = image.entries[0]?.subarray(-12)
  share(process, 100, noLimits)
  const after = decodeAreas(process.images.mm)
  expect(after.image.entries[0]?.subarray(-12)).toEqual(tail)
  expect(after.areas.at(-1)?.start).toBe(0xffff_ffff_ff60_0000)
})
