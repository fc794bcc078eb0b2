import { decodeAreas, withAreas } from './areas.ts'
import {
  cutArea,
  limitCuts,
  onlyShareable,
  presentIn,
  type SharingLimits,
  without,
} from './cuts.ts'
import { decodePagemap, stretchesOf, withoutPages } from './pagemap.ts'
import type { Addresses, ByteRange, MemoryImages } from './pages.ts'

/** A process whose memory is mapped from the pages file of its dump, except for a few pages. */
export interface SharedMemory extends MemoryImages {
  /** the bytes of that file that CRIU still copies, in order; they become a new, small pages file */
  readonly leftovers: readonly ByteRange[]
  readonly sharedBytes: number
  readonly vmas: number
}

/**
 * Turns the dumped memory of a process into private mappings of the dump's own pages file, which is
 * `fileId` in files.img. No page is copied, and all copies of the process share the pages until they
 * write. Long runs of pages in private memory are mapped; the rest stays as it is, and so does what is
 * `reached`, in order of addresses. Null if there is nothing to share.
 */
export function shareMemory(
  images: MemoryImages,
  fileId: number,
  limits: SharingLimits,
  reached: readonly Addresses[] = [],
): SharedMemory | null {
  const { image, areas } = decodeAreas(images.mm)
  const pagemap = decodePagemap(images.pagemap)
  const present = presentIn(areas, stretchesOf(pagemap))
  const cuts = limitCuts(
    present.map((cut) => without(onlyShareable(cut), reached)),
    limits,
  )
  if (cuts === null) return null
  const taken = cuts.flatMap(({ stretches }) => stretches)
  const entries = cuts.flatMap((cut) => cutArea(cut, fileId))
  return {
    mm: withAreas(image, entries),
    ...withoutPages(pagemap, taken),
    sharedBytes: taken.reduce((sum, { start, end }) => sum + end - start, 0),
    vmas: entries.length,
  }
}
