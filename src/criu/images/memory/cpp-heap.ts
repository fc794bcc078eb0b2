import {
  type Area,
  decodeAreas,
  inOrder,
  isNotForked,
  isPrivateAnonymous,
  isPrivateFile,
  isWritable,
} from './areas.ts'
import { presentIn } from './cuts.ts'
import type { Addresses } from './pages.ts'
import { joinRanges } from './ranges.ts'

/** V8's pages for C++ objects have this size, and start at a multiple of it. */
const blockBytes = 128 * 1024

/**
 * The pages among those `present` that may belong to V8's heap for C++ objects. V8 maps all its heaps alike,
 * and keeps them from children. According to its source, and seen in V8 13.6 (node 24), each of these pages
 * starts with the address of the heap that it belongs to, an object in ordinary memory. A page for JavaScript
 * starts with its size or flags. In older versions an unreadable page came first, so an area that starts
 * elsewhere counts too. Larger ones, for a single object, are given back as a whole.
 */
export function cppHeapPages(
  mm: Buffer,
  present: readonly Addresses[],
  wordAt: (address: number) => number,
): Addresses[] {
  const areas = inOrder(decodeAreas(mm).areas)
  const ordinary = joinRanges(areas.filter(isOrdinary))
  const isAddress = (word: number) =>
    word % 8 === 0 && ordinary.some(({ start, end }) => start <= word && word < end)
  const found = presentIn(
    areas,
    present.map(({ start, end }) => ({ start, end, offset: 0 })),
  )
    .filter(({ area }) => isNotForked(area))
    .flatMap(({ area, stretches }) => {
      if (area.start % blockBytes !== 0) return [area]
      return blocksOf(stretches).filter(({ start }) => isAddress(wordAt(start)))
    })
  return joinRanges(found)
}

function isOrdinary(area: Area): boolean {
  return isWritable(area) && (isPrivateAnonymous(area) || isPrivateFile(area))
}

/** Those that hold any of these pages, each once. */
function blocksOf(stretches: readonly Addresses[]): Addresses[] {
  const blocks: Addresses[] = []
  for (const { start, end } of stretches) {
    const first = Math.floor(start / blockBytes) * blockBytes
    for (let at = Math.max(first, blocks.at(-1)?.end ?? 0); at < end; at += blockBytes) {
      blocks.push({ start: at, end: at + blockBytes })
    }
  }
  return blocks
}
