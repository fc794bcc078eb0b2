import { ResourceError } from '../../../../model/errors.ts'
import { formatBytes } from '../../../../model/values/quantities.ts'
import type { Native } from '../../native.ts'
import { hostRoom } from './room.ts'
import { fitOrWarn } from './watch-volume.ts'

/**
 * Refuses to begin what would fill the disk of the home. Environments leave a reserve, and operations may take
 * half of it, so that a snapshot is possible when an environment is full.
 */
export async function requireRoom(native: Native, doing: string): Promise<void> {
  const { home } = native.places
  await fitOrWarn(native)
  const { free, reserve } = await hostRoom(native.places)
  const needed = reserve / 2
  if (free >= needed) return
  throw new ResourceError(`${doing}: the disk of ${home} is full, with ${formatBytes(free)} left`, {
    remedy: `free at least ${formatBytes(needed - free)} there, or remove snapshots with \`forkpoint prune\``,
    detail: { home, freeBytes: free, neededBytes: needed, scarce: 'diskBytes' },
  })
}
