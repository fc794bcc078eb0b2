import type { ImageFile } from '../format/image-file.ts'
import { decodeAreas } from './areas.ts'
import { processesOf } from './inheritance.ts'
import { decodePagemap } from './pagemap.ts'
import type { Addresses, MemoryImages } from './pages.ts'
import { intersect, joinRanges, lengthOf } from './ranges.ts'

/** What CRIU copies into one process. */
export interface CopiedPages {
  /** in order */
  readonly pages: readonly Addresses[]
  /** what it has mapped, in order */
  readonly areas: readonly Addresses[]
  /** the number of the program that it runs */
  readonly executable: number
}

export function copiedIn({ mm, pagemap }: MemoryImages): CopiedPages {
  const { runs } = decodePagemap(pagemap)
  const pages = joinRanges(runs.filter(({ offset, inParent }) => offset !== null || inParent))
  const { areas, executable } = decodeAreas(mm)
  return { pages, areas, executable }
}

/**
 * How much memory processes may have in common with their parents: pages of both in areas that begin and end
 * at the same addresses. CRIU compares them if both run the same program, and a child inherits those that
 * are equal.
 */
export function commonBytes(
  pstree: ImageFile,
  processes: ReadonlyMap<number, CopiedPages>,
): number {
  let total = 0
  for (const { pid, ppid } of processesOf(pstree)) {
    const [child, parent] = [processes.get(pid), processes.get(ppid)]
    if (!child || child.executable !== parent?.executable) continue
    const ends = new Map(parent.areas.map(({ start, end }) => [start, end]))
    const alike = child.areas.filter(({ start, end }) => ends.get(start) === end)
    total += lengthOf(within(within(child.pages, parent.pages), alike))
  }
  return total
}

function within(pages: readonly Addresses[], ranges: readonly Addresses[]): Addresses[] {
  return intersect(pages, ranges, (_, part) => part)
}
