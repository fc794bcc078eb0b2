import type { Limits } from '../../model/environment.ts'
import { ResourceError } from '../../model/errors.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import { formatBytes } from '../../model/values/quantities.ts'
import { leastBytes } from './fitting.ts'

type Copied = Pick<SnapshotRecord, 'id' | 'name' | 'memory' | 'origin'>

/** Whether a copy of a snapshot can live with these limits. If it may, the kernel decides when it is made. */
export function isWithinLimits(snapshot: Copied, { memoryBytes }: Limits): boolean {
  return leastBytes(snapshot) <= (memoryBytes ?? Number.POSITIVE_INFINITY)
}

/** Refuses a copy that would be over its own memory limit: the kernel would end its processes. */
export function requireWithinLimits(snapshot: Copied, limits: Limits): void {
  if (isWithinLimits(snapshot, limits)) return
  const { id, name, origin } = snapshot
  const [needed, limit] = [leastBytes(snapshot), limits.memoryBytes ?? 0]
  const own = formatBytes(origin.limits.memoryBytes ?? 0)
  const message = `a copy of snapshot ${name ?? id} takes ${formatBytes(needed)} of memory, and its limit would be ${formatBytes(limit)}`
  throw new ResourceError(message, {
    remedy: isWithinLimits(snapshot, origin.limits)
      ? `fork the snapshot instead: its forks have ${origin.limits.memoryBytes ? `a limit of ${own}` : 'no limit'}`
      : 'end processes in the environment that you do not need, and take another snapshot',
    detail: { snapshot: id, neededBytes: needed, limitBytes: limit },
  })
}
