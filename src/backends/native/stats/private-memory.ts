import { join } from 'node:path'
import { processesIn } from '../../../linux/processes-in.ts'
import type { Cgroups } from '../cell/cgroup.ts'
import type { CgroupLayout } from '../cell/cgroup-layout.ts'
import { privateOf } from './account.ts'
import { kernelText } from './kernel-text.ts'

/**
 * Bytes of memory that only this instance uses: written and shared memory. Pages of files belong to the
 * page cache, and the kernel frees them when it needs memory.
 */
export async function privateMemory(
  { controllers }: CgroupLayout,
  cgroups: Cgroups,
): Promise<number> {
  const at = controllers.get('memory')
  const dir = at && cgroups.find((path) => path.startsWith(`${at.mount}/`))
  if (!at || dir === undefined) return await mappedMemory(cgroups[0])
  const stat = await kernelText(join(dir, 'memory.stat'))
  return field(stat, at.version === 1 ? 'rss' : 'anon') + field(stat, 'shmem')
}

function field(stat: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(stat)?.[1] ?? 0)
}

/** Without a memory controller: what is mapped, which omits untouched shared memory. */
async function mappedMemory(cgroup: string): Promise<number> {
  const parts = processesIn(cgroup).map(async (pid) =>
    privateOf(await kernelText(`/proc/${pid}/smaps_rollup`)),
  )
  return (await Promise.all(parts)).reduce((sum, bytes) => sum + bytes, 0)
}
