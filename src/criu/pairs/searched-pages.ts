import type { DumpImages } from '../images/dump-images.ts'
import {
  type Area,
  decodeAreas,
  inOrder,
  isPrivateAnonymous,
  isPrivateFile,
  isWritable,
} from '../images/memory/areas.ts'
import type { Addresses } from '../images/memory/pages.ts'
import { intersect } from '../images/memory/ranges.ts'
import { type PlacedPages, pagesOf } from '../memory/all-pages.ts'
import { dumpedProcesses } from '../memory/dumped-processes.ts'

/** Pages of a process, and the part of a file that has them. */
export interface SearchedPages extends PlacedPages {
  /** inside */
  readonly pid: number
}

/** What of it is searched; absent: everything. */
interface Only {
  readonly process?: (pid: number) => boolean
  readonly area?: (area: Area) => boolean
}

/**
 * Where programs keep what they remember: all memory that only they have, and may write to. `pages` is the
 * directory of the files that they map. In order of addresses, process by process.
 */
export function searchedPages(
  images: DumpImages,
  pages: string,
  { process: isSearched = () => true, area: isWanted = () => true }: Only = {},
): SearchedPages[] {
  const processes = dumpedProcesses(images).filter(({ pid }) => isSearched(pid))
  return processes.flatMap((process) => {
    using all = pagesOf(images, process, [pages])
    const own = inOrder(decodeAreas(process.mm).areas).filter(
      (area) => isOwn(area) && isWanted(area),
    )
    const parts = intersect([...all.pieces(Number.MAX_SAFE_INTEGER)], own, partOf)
    return parts.map((part) => ({ ...part, pid: process.pid }))
  })
}

function isOwn(area: Area): boolean {
  return isWritable(area) && (isPrivateAnonymous(area) || isPrivateFile(area))
}

function partOf({ path, offset, start: before }: PlacedPages, part: Addresses): PlacedPages {
  const { start, end } = part
  return { start, end, path, offset: offset + start - before }
}
