import { unknownFormat } from '../format/unknown-format.ts'
import { type Area, decodeAreas, isShareable, withAreas } from './areas.ts'
import { type Cut, cutIntoFiles, type FileStretch, limitCuts, type SharingLimits } from './cuts.ts'
import { type Older, olderPart } from './older.ts'
import { decodePagemap, type NewRun, type Pagemap, stretchesOf, withRuns } from './pagemap.ts'
import type { Addresses, MemoryImages, Stretch } from './pages.ts'
import { intersect, joinRanges, lengthOf, rangeWith, subtract } from './ranges.ts'

/** A process whose dump lacks the pages that were not written since an earlier snapshot. */
export interface PartialDump extends MemoryImages {
  /** those pages, in order */
  readonly clean: readonly Addresses[]
  /** where the earlier snapshot has them */
  readonly older: readonly Older[]
}

/** A part of a pages file, in its order. */
export interface PagesPart {
  readonly from:
    | { readonly kind: 'dump'; readonly offset: number }
    | Exclude<Older['from'], { kind: 'pages' }>
  readonly length: number
}

/** Images of the whole process. */
export interface Inherited extends MemoryImages {
  /** what its pages file must hold; null: what the dump wrote */
  readonly parts: readonly PagesPart[] | null
  /** whether its pagemap needs that of the earlier snapshot */
  readonly hasParent: boolean
}

export interface Inheriting {
  /** numbers of older pages files in files.img */
  readonly fileIds: ReadonlyMap<string, number>
  /** `copy`: the program cannot share memory, so nothing may be mapped */
  readonly files: 'map' | 'copy'
  /** memory that may not be mapped nevertheless, in order */
  readonly unmappable: readonly Addresses[]
  readonly limits: SharingLimits
}

/**
 * Adds what an earlier snapshot has to a partial dump. What that one mapped from a pages file is mapped from
 * the same file, and what its pagemap led to is inherited by a pagemap. Only where the earlier mapping is
 * no longer possible are pages copied out of it.
 */
export function inherit(dump: PartialDump, inheriting: Inheriting): Inherited {
  const { image, areas } = decodeAreas(dump.mm)
  const pagemap = decodePagemap(dump.pagemap)
  const written = stretchesOf(pagemap)
  const pieces = contentOfClean(dump, written)
  const isPaged = ({ from }: Older) => from.kind === 'pages'
  const paged = pieces.filter(isPaged)
  const { unmappable } = inheriting
  const covered = subtract(joinRanges([...written, ...paged]), unmappable)
  const files = pieces.filter((piece) => !isPaged(piece))
  const mappable = intersect(files, subtract(files, unmappable), olderPart)
  const cuts = areas.map((area) => cutOf(area, mappable, covered, inheriting))
  const limited = limitCuts(cuts, inheriting.limits) ?? cuts.map(({ area }) => uncut(area))
  const mapped = joinRanges(limited.flatMap(({ stretches }) => stretches))
  const copied = intersect(files, subtract(files, mapped), olderPart)
  return {
    mm: withAreas(image, limited.flatMap(cutIntoFiles)),
    pagemap: pagemapOf(pagemap, written, paged, copied),
    parts: copied.length === 0 ? null : partsOf(written, copied),
    hasParent: paged.length > 0,
  }
}

/** The clean pages by where they are. It must be known of each of them. */
function contentOfClean({ clean, older }: PartialDump, written: readonly Stretch[]): Older[] {
  const wanted = subtract(joinRanges(clean), written)
  const pieces = intersect(older, wanted, olderPart)
  if (lengthOf(pieces) !== lengthOf(wanted)) {
    throw unknownFormat(
      'pagemap',
      'the snapshot before does not have all pages that did not change',
    )
  }
  return pieces
}

function uncut(area: Area): Cut<FileStretch> {
  return { area, stretches: [] }
}

/** What an area can map from older files. */
function cutOf(
  area: Area,
  files: readonly Older[],
  covered: readonly Addresses[],
  { fileIds, files: how }: Inheriting,
): Cut<FileStretch> {
  if (how === 'copy' || !isShareable(area)) return uncut(area)
  const inside = intersect(files, [area], olderPart)
  const stretches = inside.flatMap(({ start, end, from }): FileStretch[] => {
    const fileId = from.kind === 'file' ? fileIds.get(from.name) : undefined
    if (from.kind !== 'file' || fileId === undefined) return []
    return [{ start, end, offset: from.offset, fileId }]
  })
  return { area, stretches: bridged(stretches, covered) }
}

/**
 * Joins stretches that follow each other in the same file, if a pagemap has all pages between them: those
 * hide what the file has there. This way a few written pages do not split a mapping.
 */
function bridged(stretches: readonly FileStretch[], covered: readonly Addresses[]): FileStretch[] {
  const joined: FileStretch[] = []
  for (const stretch of stretches) {
    const last = joined.at(-1)
    if (last && continues(last, stretch) && isCovered(last.end, stretch.start, covered)) {
      joined[joined.length - 1] = { ...last, end: stretch.end }
    } else {
      joined.push(stretch)
    }
  }
  return joined
}

function continues(last: FileStretch, next: FileStretch): boolean {
  return last.fileId === next.fileId && next.offset - last.offset === next.start - last.start
}

/** Ranges that touch are joined, so one of them has all or nothing has. */
function isCovered(start: number, end: number, covered: readonly Addresses[]): boolean {
  return start === end || (rangeWith(covered, start)?.end ?? 0) >= end
}

/** Pages that are here, and in the parent, in order of addresses. */
function pagemapOf(
  pagemap: Pagemap,
  written: readonly Stretch[],
  paged: readonly Addresses[],
  copied: readonly Addresses[],
): Buffer {
  if (paged.length === 0 && copied.length === 0) return pagemap.bytes
  const here = joinRanges([...written, ...copied]).map((run): NewRun => ({ ...run, place: 'here' }))
  const parent = joinRanges(paged).map((run): NewRun => ({ ...run, place: 'parent' }))
  return withRuns(
    pagemap,
    [...here, ...parent].toSorted((a, b) => a.start - b.start),
  )
}

function partsOf(written: readonly Stretch[], copied: readonly Older[]): PagesPart[] {
  const parts = [
    ...written.map(({ start, end, offset }) => ({
      start,
      end,
      from: { kind: 'dump', offset } as const,
    })),
    ...copied,
  ]
  return parts
    .toSorted((a, b) => a.start - b.start)
    .flatMap(({ start, end, from }) =>
      from.kind === 'pages' ? [] : [{ from, length: end - start }],
    )
}
