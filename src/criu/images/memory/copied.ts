import type { CopiedMemory } from '../../../model/snapshot.ts'
import {
  type Area,
  decodeAreas,
  inOrder,
  isLocked,
  isPrivateFile,
  isShareable,
  isStack,
} from './areas.ts'
import { presentIn } from './cuts.ts'
import { decodePagemap, dumpedIn } from './pagemap.ts'
import type { Addresses, MemoryImages, Stretch } from './pages.ts'
import { intersect, joinRanges, subtract } from './ranges.ts'

/** What decides about memory that could be mapped. */
export interface CopyReasons {
  /** parts that may not be mapped, and why */
  readonly reached: readonly (Addresses & { readonly why: string })[]
  /** why nothing else is mapped; null: long runs of pages are */
  readonly rest: string | null
  /** by the number in files.img: what is mapped from one was mapped without a file */
  readonly isPagesFile: (fileId: number) => boolean
}

/** How much of a process's memory CRIU copies, by kind and reason, the most first. */
export function copiedIn(images: MemoryImages, reasons: CopyReasons): CopiedMemory[] {
  const { areas, heap } = decodeAreas(images.mm)
  const pages = dumpedIn(decodePagemap(images.pagemap))
  const whole = { ...reasons, all: joinRanges(reasons.reached) }
  const sums = new Map<string, { what: CopiedMemory['what']; why: string; bytes: number }>()
  for (const { area, stretches } of presentIn(inOrder(areas), pages.map(placed))) {
    const what = kindOf(area, heap, reasons)
    for (const { why, start, end } of partsOf(area, stretches, whole)) {
      const sum = sums.get(`${what} ${why}`) ?? { what, why, bytes: 0 }
      sums.set(`${what} ${why}`, { ...sum, bytes: sum.bytes + end - start })
    }
  }
  return [...sums.values()].toSorted((a, b) => b.bytes - a.bytes)
}

/** It does not matter where they are in a file. */
function placed({ start, end }: Addresses): Stretch {
  return { start, end, offset: 0 }
}

function part(_: Addresses, { start, end }: Addresses): Addresses {
  return { start, end }
}

function kindOf(area: Area, heap: Addresses, { isPagesFile }: CopyReasons): CopiedMemory['what'] {
  if (isStack(area)) return 'stack'
  if (heap.start <= area.start && area.end <= heap.end) return 'heap'
  return isPrivateFile(area) && !isPagesFile(area.shmid) ? 'file' : 'mapping'
}

type Part = Addresses & { readonly why: string }

interface AllReasons extends CopyReasons {
  /** all that is reached, in order */
  readonly all: readonly Addresses[]
}

function partsOf(area: Area, pages: readonly Addresses[], reasons: AllReasons): Part[] {
  const because = (why: string) => pages.map(({ start, end }) => ({ start, end, why }))
  if (pages.length === 0) return []
  if (isStack(area)) return because('grows by itself')
  if (isLocked(area)) return because('is locked')
  if (!isShareable(area)) return because('has a property that only anonymous memory can have')
  const { reached, rest, all } = reasons
  const parts = reached.flatMap((range) =>
    intersect(pages, [range], part).map((one) => ({ ...one, why: range.why })),
  )
  const others = subtract(pages, all)
  const why = rest ?? 'too few pages in a row'
  return [...parts, ...others.map(({ start, end }) => ({ start, end, why }))]
}
