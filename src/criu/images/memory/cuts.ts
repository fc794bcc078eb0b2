import { type Area, isShareable, mappedPartOf, partOf } from './areas.ts'
import { type Addresses, pageSize, type Stretch } from './pages.ts'
import { intersect, subtract } from './ranges.ts'

/** An area, and the stretches of it that a file will hold, in order. */
export interface Cut<S extends Stretch = Stretch> {
  readonly area: Area
  readonly stretches: readonly S[]
}

/** A stretch of a file that files.img lists. */
export interface FileStretch extends Stretch {
  readonly fileId: number
}

export interface SharingLimits {
  /** a shorter run of pages is not worth a mapping */
  readonly minRunPages: number
  /** the most areas that the process may have */
  readonly mostVmas: number
}

/** All areas, in order, with the parts that the dump holds. */
export function presentIn(areas: readonly Area[], stretches: readonly Stretch[]): Cut[] {
  let next = 0
  return areas.map((area) => {
    while ((stretches[next]?.end ?? Number.POSITIVE_INFINITY) <= area.start) next += 1
    const inside: Stretch[] = []
    for (let at = next; at < stretches.length; at += 1) {
      const stretch = stretches[at]
      if (!stretch || stretch.start >= area.end) break
      inside.push(clip(stretch, area))
    }
    return { area, stretches: inside }
  })
}

export function onlyShareable(cut: Cut): Cut {
  return isShareable(cut.area) ? cut : { ...cut, stretches: [] }
}

/** Without the parts of its stretches that lie in `ranges`, which are in order. */
export function without(cut: Cut, ranges: readonly Addresses[]): Cut {
  if (ranges.length === 0 || cut.stretches.length === 0) return cut
  const { area, stretches } = cut
  return { area, stretches: intersect(stretches, subtract(stretches, ranges), clip) }
}

function clip(stretch: Stretch, area: Addresses): Stretch {
  const start = Math.max(stretch.start, area.start)
  const end = Math.min(stretch.end, area.end)
  return { start, end, offset: stretch.offset + start - stretch.start }
}

/** Keeps only the longer stretches, so that there are not too many areas; null if that is impossible. */
export function limitCuts<S extends Stretch>(
  cuts: readonly Cut<S>[],
  limits: SharingLimits,
): Cut<S>[] | null {
  const longest = cuts.reduce((most, { stretches }) => stretches.reduce(longer, most), 0)
  for (let least = Math.max(limits.minRunPages, 1) * pageSize; least <= longest; least *= 2) {
    const limited = cuts.map(({ area, stretches }) => ({
      area,
      stretches: stretches.filter(({ start, end }) => end - start >= least),
    }))
    if (limited.reduce((sum, cut) => sum + partsOf(cut), 0) <= limits.mostVmas) return limited
  }
  return null
}

function longer(most: number, { start, end }: Addresses): number {
  return Math.max(most, end - start)
}

/** At most: where two stretches touch, there is no other part between them. */
function partsOf({ area, stretches }: Cut): number {
  const [first] = stretches
  const last = stretches.at(-1)
  if (!first || !last) return 1
  return 2 * stretches.length - 1 + Number(first.start > area.start) + Number(last.end < area.end)
}

/** The areas that an area becomes when its stretches are mapped from a file. */
export function cutArea({ area, stretches }: Cut, fileId: number): Uint8Array[] {
  return cutIntoFiles({ area, stretches: stretches.map((stretch) => ({ ...stretch, fileId })) })
}

/** The same, each stretch from its own file. */
export function cutIntoFiles({ area, stretches }: Cut<FileStretch>): Uint8Array[] {
  const entries: Uint8Array[] = []
  let at = area.start
  for (const { start, end, offset, fileId } of stretches) {
    if (start > at) entries.push(partOf(area, at, start))
    entries.push(mappedPartOf(area, { start, end, fileId, pgoff: offset }))
    at = end
  }
  if (at < area.end) entries.push(partOf(area, at, area.end))
  return entries
}
