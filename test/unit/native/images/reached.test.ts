import { expect, test } from 'vitest'
import { copiedIn } from '../../../../src/criu/images/memory/copied.ts'
import { cppHeapPages } from '../../../../src/criu/images/memory/cpp-heap.ts'
import { shareMemory } from '../../../../src/criu/images/memory/share.ts'
import { kinds, type LaidArea, mmOf, page, pagemapOf } from './layouts.ts'

const block = 128 * 1024
const heap = 0x35b0_0000
const first = 0x7fea_3200_0000

function imagesOf(
  areas: readonly LaidArea[],
  isPresent: (address: number) => boolean = () => true,
) {
  const present = new Set<number>()
  for (const { start, end } of areas) {
    for (let at = start; at < end; at += page) if (isPresent(at)) present.add(at)
  }
  const pagemap = pagemapOf(present, { version: '4.2', longest: 1000 })
  return { mm: mmOf({ areas, present }), pagemap }
}

function area(kind: keyof typeof kinds, start: number, length: number): LaidArea {
  return { kind: kinds[kind], start, end: start + length, pgoff: 0 }
}

test("V8's pages for C++ objects are told from those for JavaScript by their first words", () => {
  const areas = [
    area('heap', heap, 16 * page),
    area('notForked', first, 4 * block),
    // After a page that cannot be read, as before V8 12.
    area('notForked', first + 8 * block + page, block - 2 * page),
    area('anonymous', first + 16 * block, block),
  ]
  const firstWords = new Map([
    [first, 0x18],
    [first + block, heap + 8],
    [first + 2 * block, heap + 1],
    [first + 3 * block, heap + 64 * page],
    [first + 16 * block, heap + 8],
  ])
  const found = cppHeapPages(mmOf({ areas, present: new Set() }), areas, (address) => {
    return firstWords.get(address) ?? 0
  })
  expect(found).toEqual([
    { start: first + block, end: first + 2 * block },
    { start: first + 8 * block + page, end: first + 9 * block - page },
  ])
})

test('only what the dump has is looked at, however much is reserved', () => {
  const asked: number[] = []
  const areas = [area('heap', heap, page), area('notForked', first, 2 ** 22)]
  const wanted = first + 5 * block + 3 * page
  const present = [{ start: wanted, end: wanted + page }]
  cppHeapPages(mmOf({ areas, present: new Set() }), present, (address) => {
    asked.push(address)
    return 0
  })
  expect(asked).toEqual([first + 5 * block])
})

test('what is reached is left alone, and the rest is shared', () => {
  const areas = [area('anonymous', first, 100 * page), area('stack', first + 200 * page, 3 * page)]
  const reached = [{ start: first + 40 * page, end: first + 50 * page, why: 'module: frees it' }]
  const images = imagesOf(areas)
  const shared = shareMemory(images, 100, { minRunPages: 16, mostVmas: 100 }, reached)
  if (!shared) throw new Error('nothing is shared')
  expect(shared.sharedBytes).toBe(90 * page)
  const isPagesFile = (id: number) => id === 100
  expect(copiedIn(shared, { reached, rest: null, isPagesFile })).toEqual([
    { what: 'mapping', why: 'module: frees it', bytes: 10 * page },
    { what: 'stack', why: 'grows by itself', bytes: 3 * page },
  ])
})

test('everything that is copied has a kind and a reason', () => {
  const areas = [
    area('data', first, 20 * page),
    area('locked', first + 100 * page, 10 * page),
    area('wipedOnFork', first + 200 * page, 5 * page),
  ]
  const reasons = { reached: [], rest: 'program: imports madvise', isPagesFile: () => false }
  expect(copiedIn(imagesOf(areas), reasons)).toEqual([
    { what: 'file', why: 'program: imports madvise', bytes: 20 * page },
    { what: 'mapping', why: 'is locked', bytes: 10 * page },
    {
      what: 'mapping',
      why: 'has a property that only anonymous memory can have',
      bytes: 5 * page,
    },
  ])
  const [data] = copiedIn(imagesOf(areas), { ...reasons, isPagesFile: () => true })
  expect(data?.what).toBe('mapping')
})
