import { decodeAreas, withAreas } from './areas.ts'
import { cutArea, limitCuts, onlyShareable, presentIn, type SharingLimits } from './cuts.ts'
import { decodePagemap, stretchesOf, withoutPages } from './pagemap.ts'
import type { ByteRange, MemoryImages } from './pages.ts'

/** A process whose memory is mapped from the pages file of its dump, but for a few pages. */
export interface SharedMemory extends MemoryImages {
  /** the bytes of that file that CRIU still copies: its new, small pages file, in order */
  readonly leftovers: readonly ByteRange[]
  readonly sharedBytes: number
  readonly vmas: number
}

/**
 * Turns what a dump has of a process into private mappings of the dump's own pages file, which is
 * `fileId` in files.img: no page is copied, and all copies of the process share them until they write.
 * Long runs of pages in private memory are mapped, whatever was beneath; the rest stays as it is. Null
 * if there is nothing to share.
 */
export function shareMemory(
  images: MemoryImages,
  fileId: number,
  limits: SharingLimits,
): SharedMemory | null {
  const { image, areas } = decodeAreas(images.mm)
  const pagemap = decodePagemap(images.pagemap)
  const present = presentIn(areas, stretchesOf(pagemap))
  const cuts = limitCuts(present.map(onlyShareable), limits)
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
