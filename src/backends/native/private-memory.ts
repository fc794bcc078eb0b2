import { readFile } from 'node:fs/promises'
import { processesIn } from './cgroup.ts'

/**
 * Bytes of memory that the processes of a cgroup share with nobody outside it. Pages of files are
 * the page cache's; the kernel gives them back when it needs them.
 */
export async function privateMemory(cgroup: string): Promise<number> {
  const parts = (await processesIn(cgroup)).map(async (pid) => {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
    return kibOf(text, 'Pss_Anon') + kibOf(text, 'Pss_Shmem')
  })
  return (await Promise.all(parts)).reduce((sum, kib) => sum + kib * 1024, 0)
}

function kibOf(text: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)
}
