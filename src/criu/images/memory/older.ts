import { type Area, decodeAreas, isPrivateFile } from './areas.ts'
import { decodePagemap, dumpedIn } from './pagemap.ts'
import type { Addresses, MemoryImages } from './pages.ts'
import { subtract } from './ranges.ts'

/** Where an earlier snapshot has the content of some addresses. */
export interface Older extends Addresses {
  readonly from: /** its pagemap leads to them */
    | { readonly kind: 'pages' }
    /** a pages file, which can be mapped */
    | { readonly kind: 'file'; readonly name: string; readonly offset: number }
    /** any other file, by its path, which can only be copied from */
    | { readonly kind: 'image'; readonly path: string; readonly offset: number }
}

/**
 * What the images of a snapshot have of a process's memory, in order of addresses. `known` are its pages
 * files, by their numbers in files.img. Zeros and other files do not count.
 */
export function olderContents(images: MemoryImages, known: ReadonlyMap<number, string>): Older[] {
  const { areas } = decodeAreas(images.mm)
  const paged = dumpedIn(decodePagemap(images.pagemap))
  const pages = paged.map((range): Older => ({ ...range, from: { kind: 'pages' } }))
  const mapped = areas.flatMap((area) => mappedParts(area, paged, known))
  return [...pages, ...mapped].toSorted((a, b) => a.start - b.start)
}

function mappedParts(
  area: Area,
  paged: readonly Addresses[],
  known: ReadonlyMap<number, string>,
): Older[] {
  const name = isPrivateFile(area) ? known.get(area.shmid) : undefined
  if (name === undefined) return []
  return subtract([area], paged).map(({ start, end }) => ({
    start,
    end,
    from: { kind: 'file', name, offset: area.pgoff + start - area.start },
  }))
}

/** A part of it. */
export function olderPart({ start: before, from }: Older, { start, end }: Addresses): Older {
  if (from.kind === 'pages') return { start, end, from }
  return { start, end, from: { ...from, offset: from.offset + start - before } }
}
