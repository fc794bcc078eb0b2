import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PrerequisiteError } from '../model/errors.ts'
import { pids, readOf } from './proc.ts'

/**
 * Memory that only this process uses: what it wrote itself, and its share of shared memory. Pages of
 * files that it only read do not count.
 */
const privateFields = /^(?:Pss_Anon|Pss_Shmem):\s+(\d+) kB/gm

/** The sum over all processes whose cgroup contains one of these texts, such as ids of environments. */
export function privateBytesOf(cgroups: readonly string[]): number {
  const inside = pids().filter((pid) => {
    const groups = readOf(pid, 'cgroup')
    return cgroups.some((cgroup) => groups.includes(cgroup))
  })
  return inside.reduce((sum, pid) => sum + privateBytesOfProcess(pid), 0)
}

/** The common parent of the cgroups of all environments of a home, found from one of them. */
export function familyOf(id: string): string {
  for (const pid of pids()) {
    const [, above] = new RegExp(`:(/\\S*/)${id}-`).exec(readOf(pid, 'cgroup')) ?? []
    if (above !== undefined) return above
  }
  throw new Error(`${id} has no process`)
}

/** The same as the kernel counts it, for all cgroups below one, without pages of files. */
export function cgroupMemory(family: string): number {
  const roots = ['/sys/fs/cgroup/memory', '/sys/fs/cgroup', '/sys/fs/cgroup/unified']
  const texts = roots.map((root) => readIfThere(join(root, family, 'memory.stat')))
  const text = texts.find((one) => one !== '')
  if (text === undefined)
    throw new PrerequisiteError('no cgroup hierarchy counts memory', {
      remedy: 'mount the memory controller of cgroup v1 or v2',
    })
  const fields = /^total_rss /m.test(text) ? ['total_rss', 'total_shmem'] : ['anon', 'shmem']
  return fields
    .map((name) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0))
    .reduce((sum, bytes) => sum + bytes, 0)
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

function privateBytesOfProcess(pid: string): number {
  const fields = readOf(pid, 'smaps_rollup').matchAll(privateFields)
  return Array.from(fields, ([, kib]) => Number(kib) * 1024).reduce((sum, bytes) => sum + bytes, 0)
}
