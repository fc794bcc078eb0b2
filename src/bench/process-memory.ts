import { readdir, readFile } from 'node:fs/promises'

/**
 * Memory that only this process has: what it wrote itself, and its part of shared memory. Pages of
 * files that it only read are not in it, however many map them.
 */
const privateFields = /^(?:Pss_Anon|Pss_Shmem):\s+(\d+) kB/gm

/** Of all processes whose cgroup contains this text, such as the id of an environment. */
export async function privateBytesOf(cgroup: string): Promise<number> {
  const each = (await pids()).map((pid) => ofProcess(pid, cgroup))
  return (await Promise.all(each)).reduce((sum, bytes) => sum + bytes, 0)
}

/** What the cgroups of all environments of the same home have in common, found by one of them. */
export async function familyOf(id: string): Promise<string> {
  for (const pid of await pids()) {
    const [, above] = new RegExp(`:(/\\S*/)${id}-`).exec(await read(pid, 'cgroup')) ?? []
    if (above !== undefined) return above
  }
  throw new Error(`${id} has no process`)
}

async function ofProcess(pid: string, cgroup: string): Promise<number> {
  if (!(await read(pid, 'cgroup')).includes(cgroup)) return 0
  const fields = (await read(pid, 'smaps_rollup')).matchAll(privateFields)
  return Array.from(fields, ([, kib]) => Number(kib) * 1024).reduce((sum, bytes) => sum + bytes, 0)
}

async function pids(): Promise<string[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
}

/** Processes end while they are looked at. */
async function read(pid: string, name: string): Promise<string> {
  return await readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
}
