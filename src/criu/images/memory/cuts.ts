import { type Area, isShareable, mappedPartOf, partOf } from './areas.ts'
import { pageSize, type Stretch } from './pages.ts'

/** An area, and the stretches of it that a file will hold, in order. */
export interface Cut {
  readonly area: Area
  readonly stretches: readonly Stretch[]
}

export interface SharingLimits {
  /** a shorter run of pages is not worth a mapping */
  readonly minRunPages: number
  /** the most areas that the process may have */
  readonly mostVmas: number
}

/** All areas, in order, with what the dump has of them. */
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

function clip(stretch: Stretch, area: Area): Stretch {
  const start = Math.max(stretch.start, area.start)
  const end = Math.min(stretch.end, area.end)
  return { start, end, offset: stretch.offset + start - stretch.start }
}

/** The longer stretches only, so that there are not too many areas; null if there are anyway. */
export function limitCuts(cuts: readonly Cut[], limits: SharingLimits): Cut[] | null {
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

function longer(most: number, { start, end }: Stretch): number {
  return Math.max(most, end - start)
}

/** Stretches of one area never touch, so there is something else between any two. */
function partsOf({ area, stretches }: Cut): number {
  const [first] = stretches
  const last = stretches.at(-1)
  if (!first || !last) return 1
  return 2 * stretches.length - 1 + Number(first.start > area.start) + Number(last.end < area.end)
}

/** The areas that an area becomes when its stretches are mapped from a file. */
export function cutArea({ area, stretches }: Cut, fileId: number): Uint8Array[] {
  const entries: Uint8Array[] = []
  let at = area.start
  for (const { start, end, offset } of stretches) {
    if (start > at) entries.push(partOf(area, at, start))
    entries.push(mappedPartOf(area, { start, end, fileId, pgoff: offset }))
    at = end
  }
  if (at < area.end) entries.push(partOf(area, at, area.end))
  return entries
}
