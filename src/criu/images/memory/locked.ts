import type { Attribute } from '../attributes.ts'
import type { DumpImages } from '../dump-images.ts'
import {
  type Area,
  decodeAreas,
  isLocked,
  isPrivateAnonymous,
  unlocked,
  withAreas,
} from './areas.ts'
import { decodePagemap, dumpedIn } from './pagemap.ts'
import { subtract } from './ranges.ts'

const memoryImage = /^mm-(\d+)\.img$/

/** Images in which some areas are not locked, and what locks them before a copy runs. */
export interface LockedLater {
  readonly images: DumpImages
  readonly attributes: readonly Attribute[]
}

/**
 * The kernel does not tell that memory was locked with MLOCK_ONFAULT, and CRIU locks it as a whole, with all
 * pages that nobody has touched. What is locked and has such pages was locked like that.
 */
export function lockedOnFault(images: DumpImages): LockedLater {
  const attributes: Attribute[] = []
  const changed: Record<string, Buffer> = {}
  for (const name of images.matching(memoryImage)) {
    const { image, areas } = decodeAreas(images.bytes(name))
    if (!areas.some(isLocked)) continue
    const process = Number(memoryImage.exec(name)?.[1])
    const later = new Set(areas.filter((area) => isLocked(area) && isSparse(images, process, area)))
    if (later.size === 0) continue
    const vmas = areas.map((area) => (later.has(area) ? unlocked(area) : area.entry))
    changed[name] = withAreas(image, vmas)
    for (const { start, end } of later) {
      const value = `${start.toString(16)}-${end.toString(16)}`
      attributes.push({ word: 'locked-on-fault', process, number: process, value })
    }
  }
  return { images: attributes.length === 0 ? images : images.with(changed), attributes }
}

function isSparse(images: DumpImages, process: number, area: Area): boolean {
  if (!isPrivateAnonymous(area)) return false
  const present = dumpedIn(decodePagemap(images.bytes(`pagemap-${process}.img`)))
  return subtract([area], present).length > 0
}
