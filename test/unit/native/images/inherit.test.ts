import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeAreas, isPrivateFile } from '../../../../src/criu/images/memory/areas.ts'
import type { SharingLimits } from '../../../../src/criu/images/memory/cuts.ts'
import { type Inheriting, inherit } from '../../../../src/criu/images/memory/inherit.ts'
import { placesIn } from '../../../../src/criu/images/memory/levels.ts'
import { olderContents } from '../../../../src/criu/images/memory/older.ts'
import {
  decodePagemap,
  inheritedIn,
  stretchesOf,
} from '../../../../src/criu/images/memory/pagemap.ts'
import type { Addresses, MemoryImages } from '../../../../src/criu/images/memory/pages.ts'
import { intersect, joinRanges, subtract } from '../../../../src/criu/images/memory/ranges.ts'
import { shareMemory } from '../../../../src/criu/images/memory/share.ts'
import { flattened } from '../../../../src/criu/tracking/ancestry.ts'
import {
  type Layout,
  layouts,
  mmOf,
  type PagemapStyle,
  page,
  pagemapOf,
  pagemapStyles,
} from './layouts.ts'

/** What a process holds at each address; only what is not as its area has it untouched. */
type Contents = ReadonlyMap<number, string>

/** A snapshot as it is on disk. A word stands for the bytes of each page. */
interface Stored {
  readonly images: MemoryImages
  /** of its own pages file */
  readonly pages: readonly string[]
  /** pages files that can be mapped, by their numbers and names */
  readonly files: ReadonlyMap<number, readonly string[]>
  /** what its pagemap leads to, instead of the parent */
  readonly inherited: Contents
}

const names = new Map([[100, 'one']])
const numbers = new Map([['one', 100]])

/** What a restore of it would show. */
function contentsOf({ images, pages, files, inherited }: Stored): Contents {
  const contents = new Map<number, string>()
  for (const area of decodeAreas(images.mm).areas) {
    const file = isPrivateFile(area) ? files.get(area.shmid) : undefined
    if (!file) continue
    for (let at = area.start; at < area.end; at += page)
      contents.set(at, file[(area.pgoff + at - area.start) / page] ?? 'beyond the end')
  }
  const pagemap = decodePagemap(images.pagemap)
  for (const { start, end, offset } of stretchesOf(pagemap))
    for (let at = start; at < end; at += page)
      contents.set(at, pages[(offset + at - start) / page] ?? 'beyond the end')
  for (const at of addressesOf(inheritedIn(pagemap)))
    contents.set(at, inherited.get(at) ?? 'not in the parent')
  return contents
}

/** What it maps from a pages file, also where a pagemap hides it. */
function mappedIn({ images }: Stored): Addresses[] {
  const { areas } = decodeAreas(images.mm)
  return joinRanges(areas.filter((area) => isPrivateFile(area) && area.shmid === 100))
}

function addressesOf(ranges: readonly Addresses[]): number[] {
  return ranges.flatMap(({ start, end }) =>
    Array.from({ length: (end - start) / page }, (_, index) => start + index * page),
  )
}

function rangesOf(addresses: Iterable<number>): Addresses[] {
  return joinRanges([...addresses].map((start) => ({ start, end: start + page })))
}

/** The first snapshot, with or without a pages file to map. */
function first(
  layout: Layout,
  style: PagemapStyle,
  shared: boolean,
  limits: SharingLimits,
): Stored {
  const images = { mm: mmOf(layout), pagemap: pagemapOf(layout.present, style) }
  const pages = [...layout.present].sort((a, b) => a - b).map((at) => `first ${at}`)
  const inherited = new Map<number, string>()
  const memory = shared ? shareMemory(images, 100, limits) : null
  if (memory === null) return { images, pages, files: new Map(), inherited }
  const left = memory.leftovers.flatMap(({ offset, length }) =>
    pages.slice(offset / page, (offset + length) / page),
  )
  return { images: memory, pages: left, files: new Map([[100, pages]]), inherited }
}

/** The next one, of a process in which some pages were written, and some forgotten. */
function next(before: Stored, layout: Layout, run: Run, how: Inheriting): Stored {
  const old = contentsOf(before)
  const isClean = (at: number) => !run.written.has(at) && !run.forgotten.has(at)
  const clean = rangesOf([...old.keys()].filter(isClean))
  const images = { mm: mmOf(layout), pagemap: pagemapOf(run.written, run.style) }
  const older = olderContents(before.images, names)
  const whole = inherit({ ...images, clean, older }, how)
  const written = [...run.written].sort((a, b) => a - b).map((at) => `written ${run.name} ${at}`)
  const pages = whole.parts?.flatMap(({ from, length }) => {
    const file = from.kind === 'dump' ? written : (before.files.get(100) ?? [])
    return file.slice(from.offset / page, (from.offset + length) / page)
  })
  return { images: whole, pages: pages ?? written, files: before.files, inherited: old }
}

interface Run {
  readonly name: string
  readonly written: ReadonlySet<number>
  readonly forgotten: ReadonlySet<number>
  readonly style: PagemapStyle
}

function expected(before: Contents, { name, written, forgotten }: Run): Contents {
  const after = new Map([...before].filter(([at]) => !forgotten.has(at)))
  for (const at of written) after.set(at, `written ${name} ${at}`)
  return after
}

const limits: fc.Arbitrary<SharingLimits> = fc.record({
  minRunPages: fc.integer({ min: 1, max: 20 }),
  mostVmas: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(1000)),
})

/** Picks each element with the same chance, by a number of its own. */
function picked(addresses: readonly number[], seed: number, of: number): Set<number> {
  return new Set(addresses.filter((at) => ((at / page) * 2654435761 + seed) % of < 1))
}

test('a process that inherits has exactly the pages it had, over generations', () => {
  const property = fc.property(
    layouts,
    pagemapStyles,
    limits,
    fc.boolean(),
    fc.constantFrom('map', 'copy'),
    fc.array(fc.tuple(fc.nat(1e6), fc.constantFrom(2, 5, 40)), { minLength: 1, maxLength: 4 }),
    (layout, style, within, shared, files, runs) => {
      let stored = first(layout, style, shared, within)
      let truth = contentsOf(stored)
      const places = [...layout.present]
      for (const [index, [seed, of]] of runs.entries()) {
        const written = picked(places, seed, of)
        const forgotten = new Set(
          [...picked(places, seed + 7, 11)].filter((at) => !written.has(at)),
        )
        const run = { name: String(index), written, forgotten, style }
        // CRIU needs one page at least, and the preloaded library sees to it.
        if (written.size === 0) return
        const unmappable = rangesOf([...picked(places, seed + 3, 9)])
        const how = { fileIds: numbers, files, unmappable, limits: within }
        stored = next(stored, layout, run, how)
        expect(intersect(mappedIn(stored), unmappable, (_, part) => part)).toEqual([])
        truth = expected(truth, run)
        expect(contentsOf(stored)).toEqual(truth)
      }
    },
  )
  fc.assert(property, { numRuns: 300 })
})

test('what is mapped is not copied, and a few written pages do not split a mapping', () => {
  const present = new Set(addressesOf([{ start: 0x100000, end: 0x200000 }]))
  const kind = { status: 513, flags: 0x22, prot: 3, isPrivate: true, isShareable: true }
  const layout = { areas: [{ kind, start: 0x100000, end: 0x200000, pgoff: 0 }], present }
  const style = { version: '4.2', longest: 1000 } as const
  const before = first(layout, style, true, { minRunPages: 16, mostVmas: 1000 })
  const run = {
    name: 'x',
    written: new Set([0x120000, 0x150000]),
    forgotten: new Set<number>(),
    style,
  }
  const how = {
    fileIds: numbers,
    files: 'map',
    unmappable: [],
    limits: { minRunPages: 16, mostVmas: 1000 },
  } as const
  const after = next(before, layout, run, how)
  expect(after.pages).toHaveLength(2)
  expect(decodeAreas(after.images.mm).areas.filter(isPrivateFile)).toHaveLength(1)
})

test('a page that the snapshot before does not have is refused', () => {
  const images = {
    mm: mmOf({ areas: [], present: new Set() }),
    pagemap: pagemapOf([0x1000], { version: '4.2', longest: 9 }),
  }
  const clean = [{ start: 0x8000, end: 0x9000 }]
  const limits = { minRunPages: 1, mostVmas: 10 }
  const how = { fileIds: numbers, files: 'map', unmappable: [], limits } as const
  expect(() => inherit({ ...images, clean, older: [] }, how)).toThrow(/does not have all pages/)
})

const addresses = fc
  .uniqueArray(fc.nat(200), { minLength: 1 })
  .map((all) => all.map((at) => at * page))

test('pages are found in the newest dump that has them', () => {
  const property = fc.property(fc.array(addresses, { minLength: 1, maxLength: 5 }), (dumps) => {
    const style = { version: '4.2', longest: 1000 } as const
    const all = rangesOf(dumps.flat())
    const levels = dumps.map((present, index) => {
      const own = decodePagemap(pagemapOf(present, style))
      const inherited = subtract(rangesOf(dumps.slice(index + 1).flat()), rangesOf(present))
      return { pagemap: { ...own, runs: withInherited(own.runs, inherited) }, pages: String(index) }
    })
    const found = placesIn(levels, all)
    for (const { start, end, level, from } of found)
      for (const at of addressesOf([{ start, end }])) {
        expect(level).toBe(dumps.findIndex((present) => present.includes(at)))
        const order = (dumps[level] ?? []).toSorted((a, b) => a - b)
        expect(order[(from.offset + at - start) / page]).toBe(at)
      }
    expect(joinRanges(found)).toEqual(all)
    const older = all.map((range) => ({ ...range, from: { kind: 'pages' } as const }))
    const flat = flattened(older, levels, all)
    expect(joinRanges(flat.older)).toEqual(all)
    const kept = flat.older.filter(({ from }) => from.kind === 'pages')
    for (const at of addressesOf(kept)) expect(dumps.at(-1)).toContain(at)
  })
  fc.assert(property, { numRuns: 200 })
})

type Runs = ReturnType<typeof decodePagemap>['runs']

function withInherited(runs: Runs, inherited: readonly Addresses[]): Runs {
  const [like] = runs
  if (!like) return runs
  const added = inherited.map((range) => ({ ...like, ...range, offset: null, inParent: true }))
  return [...runs, ...added].toSorted((a, b) => a.start - b.start)
}
