import { decodeAreas, isPrivateFile, withAreas } from './areas.ts'
import { type Cut, cutArea, presentIn } from './cuts.ts'
import { type Content, contentOf } from './describe.ts'
import { decodePagemap, stretchesOf, withoutPages } from './pagemap.ts'
import type { ByteRange, MemoryImages } from './pages.ts'

/** Bytes to copy from the dump's own pages file, or from an older one. */
export interface Copy {
  readonly from:
    | { readonly kind: 'page'; readonly offset: number }
    | { readonly kind: 'file'; readonly fileId: number; readonly offset: number }
  readonly length: number
}

/** A process whose memory is mapped from one new file, whatever it was mapped from before. */
export interface OwnedMemory extends MemoryImages {
  /** the content of the new file, in order; zeros beyond the end of an old one */
  readonly copies: readonly Copy[]
  /** the content of the new, small pages file, as for `shareMemory` */
  readonly leftovers: readonly ByteRange[]
  /** of the new file */
  readonly bytes: number
  readonly vmas: number
}

/**
 * Makes pages that a process borrows its own. What it maps from pages files goes into one new file,
 * `fileId` in files.img. What is not mapped may not be safe to map, and stays as it is. Null if there is
 * nothing to copy. The file is only for this process: CRIU takes parent and child for the same memory if they map the same file at the
 * same addresses.
 */
export function ownPages(
  images: MemoryImages,
  fileId: number,
  isPagesFile: (fileId: number) => boolean,
): OwnedMemory | null {
  const { image, areas } = decodeAreas(images.mm)
  const pagemap = decodePagemap(images.pagemap)
  const present = presentIn(areas, stretchesOf(pagemap))
  const isOld = ({ area }: Cut) => isPrivateFile(area) && isPagesFile(area.shmid)
  if (!present.some(isOld)) return null
  const wanted = present.map((cut) => (isOld(cut) ? wholeOf(cut) : uncut(cut)))
  const { cuts, bytes } = placed(wanted)
  const entries = cuts.flatMap((cut) => cutArea(cut, fileId))
  const taken = cuts.flatMap(({ stretches }) => stretches)
  return {
    mm: withAreas(image, entries),
    ...withoutPages(pagemap, taken),
    copies: joined(wanted.flatMap((cut, at) => copiesOf(present[at] ?? cut, cut))),
    bytes,
    vmas: entries.length,
  }
}

function uncut({ area }: Cut): Cut {
  return { area, stretches: [] }
}

function wholeOf({ area }: Cut): Cut {
  return { area, stretches: [{ start: area.start, end: area.end, offset: 0 }] }
}

/** The stretches one after the other in the new file. */
function placed(cuts: readonly Cut[]): { cuts: Cut[]; bytes: number } {
  let bytes = 0
  const moved = cuts.map(({ area, stretches }) => ({
    area,
    stretches: stretches.map(({ start, end }) => {
      const offset = bytes
      bytes += end - start
      return { start, end, offset }
    }),
  }))
  return { cuts: moved, bytes }
}

/** A stretch is a whole area with all it shows. */
function copiesOf(present: Cut, { stretches }: Cut): Copy[] {
  const contents = contentOf(present)
  let next = 0
  return stretches.flatMap(({ start, end }) => {
    while ((contents[next]?.start ?? start) < start) next += 1
    const first = next
    while ((contents[next]?.end ?? Number.POSITIVE_INFINITY) <= end) next += 1
    return contents.slice(first, next).map(copyOf)
  })
}

function copyOf({ start, end, source }: Content): Copy {
  if (source.kind !== 'page' && source.kind !== 'file') {
    throw new RangeError(`nothing to copy at ${start.toString(16)}`)
  }
  return { from: source, length: end - start }
}

function joined(copies: readonly Copy[]): Copy[] {
  const all: { from: Copy['from']; length: number }[] = []
  for (const { from, length } of copies) {
    const last = all.at(-1)
    if (last && follows(last, from)) last.length += length
    else all.push({ from, length })
  }
  return all
}

function follows({ from: last, length }: Copy, from: Copy['from']): boolean {
  const isSameFile =
    last.kind === 'file' && from.kind === 'file'
      ? last.fileId === from.fileId
      : last.kind === from.kind
  return isSameFile && last.offset + length === from.offset
}
