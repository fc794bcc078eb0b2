import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeAreas } from '../../../../src/criu/images/memory/areas.ts'
import { decodePagemap, stretchesOf } from '../../../../src/criu/images/memory/pagemap.ts'
import type { MemoryImages } from '../../../../src/criu/images/memory/pages.ts'
import { shareMemory } from '../../../../src/criu/images/memory/share.ts'
import { formatPlan, planProcess } from '../../../../src/criu/remap/plan-remap.ts'
import { chooseTracking } from '../../../../src/criu/tracking/choose.ts'
import { kinds, layouts, mmOf, page, pagemapOf } from '../images/layouts.ts'

const style = { version: '4.2', longest: 1000 } as const
const limits = { minRunPages: 16, mostVmas: 30_000 }
/** the number of the pages file, which no area of a layout has */
const fileId = 100
const files = { before: new Map<number, string>(), after: new Map([[fileId, 'file']]) }

/** Where the pages file has each page. */
function offsetsIn({ pagemap }: MemoryImages): Map<number, number> {
  const offsets = new Map<number, number>()
  for (const { start, end, offset } of stretchesOf(decodePagemap(pagemap)))
    for (let at = start; at < end; at += page) offsets.set(at, offset + at - start)
  return offsets
}

test('every run shows what the dump has at its address, in memory that may become a mapping', () => {
  fc.assert(
    fc.property(layouts, (layout) => {
      const before = { mm: mmOf(layout), pagemap: pagemapOf(layout.present, style) }
      const after = shareMemory(before, fileId, limits)
      if (after === null) return
      const offsets = offsetsIn(before)
      const seen = new Set<number>()
      for (const { start, end, offset, area, name } of planProcess(before, after, files)) {
        expect(name).toBe('file')
        expect(end - start).toBeGreaterThanOrEqual(16 * page)
        expect(start >= area.start && end <= area.end).toBe(true)
        expect([area.flags & ~0x4000, area.prot & 4]).toEqual([0x22, 0])
        for (let at = start; at < end; at += page) {
          expect(offsets.get(at)).toBe(offset + at - start)
          expect(seen.has(at)).toBe(false)
          seen.add(at)
        }
      }
    }),
  )
})

test('what is mapped already stays, and only newer pages over it are mapped anew', () => {
  const area = { kind: kinds.anonymous, start: page * 100, end: page * 300, pgoff: 0 }
  const all = Array.from({ length: 200 }, (_, index) => area.start + index * page)
  const first = { areas: [area], present: new Set(all) }
  const dumped = { mm: mmOf(first), pagemap: pagemapOf(first.present, style) }
  const mapped = shareMemory(dumped, fileId, limits)
  if (mapped === null) throw new Error('nothing to share')
  const changed = new Set(all.slice(50, 90))
  const again = { mm: mapped.mm, pagemap: pagemapOf(changed, style) }
  const next = shareMemory(again, fileId + 1, limits)
  if (next === null) throw new Error('nothing to share')
  const known = new Map([...files.after, [fileId + 1, 'newer']])
  const runs = planProcess(again, next, { before: files.after, after: known })
  expect(runs.map(({ start, end, offset, name }) => [start, end, offset, name])).toEqual([
    // The last page of a dump always stays an image.
    [page * 150, page * 189, 0, 'newer'],
  ])
  expect(planProcess(again, again, { before: files.after, after: files.after })).toEqual([])
})

test('the plan names processes as the host does, and leaves out those that it does not know', () => {
  const [area] = decodeAreas(
    mmOf({
      areas: [{ kind: kinds.huge, start: page, end: 3 * page, pgoff: 0 }],
      present: new Set(),
    }),
  ).areas
  if (!area) throw new Error('no area')
  const run = { start: page, end: 3 * page, offset: 5 * page, area, name: 'file' }
  const text = formatPlan(
    [
      { ...run, pid: 7 },
      { ...run, pid: 8 },
    ],
    new Map([[7, 4242]]),
  )
  expect(text).toBe('4242 1000 3000 5000 3 0 4000 file\n')
})

test('the setting decides; if it does not, the kernel', async () => {
  const cannot = async () => 'Linux 6.7 can'
  expect(await chooseTracking('auto', async () => null)).toMatchObject({ kind: 'written' })
  expect(await chooseTracking('auto', cannot)).toEqual({ kind: 'remapped', why: 'Linux 6.7 can' })
  expect(await chooseTracking('written', cannot)).toMatchObject({ kind: 'written' })
  expect(await chooseTracking('full', cannot)).toMatchObject({ kind: 'full' })
})
