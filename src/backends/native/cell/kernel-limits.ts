import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A setting of the kernel that environments need more of than it gives. */
export interface KernelLimit {
  /** below /proc/sys */
  readonly name: string
  readonly enough: bigint
  /** what happens inside with less */
  readonly why: string
}

/** Raised, never lowered. The table in docs/limitations.md has what the kernel gives by itself. */
export const kernelLimits: readonly KernelLimit[] = [
  {
    name: 'fs/inotify/max_user_instances',
    enough: 8192n,
    why: 'a dev server or an editor has one for each project',
  },
  {
    name: 'fs/inotify/max_user_watches',
    enough: 524_288n,
    why: 'a dev server has one for each directory of a project',
  },
  {
    // Their memory is counted by the cgroup. CRIU must make them as large as they were.
    name: 'fs/pipe-user-pages-soft',
    enough: 262_144n,
    why: 'more than a thousand pipes cannot be restored',
  },
  {
    // Each environment has a bound of its own, see native/cell/inside.c.
    name: 'kernel/pty/max',
    enough: 65_536n,
    why: 'a few environments with many terminals leave none for others',
  },
  {
    // As systemd does; memory of open files is counted by the cgroup.
    name: 'fs/file-max',
    enough: 9_223_372_036_854_775_807n,
    why: 'one environment with many open files leaves none for others',
  },
]

export async function raiseKernelLimits(): Promise<void> {
  for (const limit of kernelLimits) {
    if (await isEnough(limit)) continue
    // A host that forbids it keeps its limit, and `doctor` says so.
    await writeFile(pathOf(limit), String(limit.enough)).catch(() => {})
  }
}

/** Those that this host keeps low. */
export async function lowKernelLimits(): Promise<KernelLimit[]> {
  await raiseKernelLimits()
  const low: KernelLimit[] = []
  for (const limit of kernelLimits) if (!(await isEnough(limit))) low.push(limit)
  return low
}

/** What this kernel does not have limits nobody; so does a pipe limit of 0. */
async function isEnough(limit: KernelLimit): Promise<boolean> {
  const text = await readFile(pathOf(limit), 'utf8').catch(() => '0')
  const value = BigInt(text.trim())
  return value === 0n || value >= limit.enough
}

function pathOf({ name }: KernelLimit): string {
  return join('/proc/sys', name)
}
