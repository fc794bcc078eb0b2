import { readFileSync } from 'node:fs'
import type { SharingLimits } from '../images/memory/cuts.ts'

/** Leaves half of the mappings that the kernel allows for what processes map later. */
export function sharingLimits(): SharingLimits {
  const most = Number(readFileSync('/proc/sys/vm/max_map_count', 'utf8'))
  return { minRunPages: 16, mostVmas: Math.floor(most / 2) }
}
