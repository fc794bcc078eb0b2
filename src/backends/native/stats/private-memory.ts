import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processesIn } from '../../../linux/processes-in.ts'
import type { CgroupLayout } from '../cell/cgroup-layout.ts'
import { privateOf } from './account.ts'

/**
 * Bytes that the processes of an instance have for themselves: written memory and shared memory.
 * Pages of files are the page cache's; the kernel gives them back when it needs them.
 */
export async function privateMemory(
  { controllers }: CgroupLayout,
  cgroups: readonly string[],
): Promise<number> {
  const at = controllers.get('memory')
  const dir = at && cgroups.find((path) => path.startsWith(`${at.mount}/`))
  if (!at || dir === undefined) return await mappedMemory(cgroups[0] ?? '')
  const stat = await readFile(join(dir, 'memory.stat'), 'utf8').catch(() => '')
  return field(stat, at.version === 1 ? 'rss' : 'anon') + field(stat, 'shmem')
}

function field(stat: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(stat)?.[1] ?? 0)
}

/** Without a memory controller: what is mapped, in which untouched shared memory is missing. */
async function mappedMemory(cgroup: string): Promise<number> {
  const parts = processesIn(cgroup).map(async (pid) =>
    privateOf(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')),
  )
  return (await Promise.all(parts)).reduce((sum, bytes) => sum + bytes, 0)
}
