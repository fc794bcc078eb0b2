import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A kernel setting whose default is too low for environments. */
export interface KernelLimit {
  /** below /proc/sys */
  readonly name: string
  readonly enough: bigint
  /** why it must be raised */
  readonly why: string
}

/** Raised, never lowered. The table in docs/limitations.md lists the kernel's defaults. */
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
    // The cgroup counts their memory. CRIU must make them as large as they were.
    name: 'fs/pipe-user-pages-soft',
    enough: 262_144n,
    why: 'more than a thousand pipes cannot be restored',
  },
  {
    // Each environment also has its own limit, see native/cell/inside.c.
    name: 'kernel/pty/max',
    enough: 65_536n,
    why: 'a few environments with many terminals leave none for others',
  },
  {
    // As systemd does. The cgroup counts the memory of open files.
    name: 'fs/file-max',
    enough: 9_223_372_036_854_775_807n,
    why: 'one environment with many open files leaves none for others',
  },
]

export async function raiseKernelLimits(): Promise<void> {
  for (const limit of kernelLimits) {
    if (await isEnough(limit)) continue
    // A host that forbids it keeps its limit, and `doctor` reports that.
    await writeFile(pathOf(limit), String(limit.enough)).catch(() => {})
  }
}

/** The settings that cannot be raised on this host. */
export async function lowKernelLimits(): Promise<KernelLimit[]> {
  await raiseKernelLimits()
  const low: KernelLimit[] = []
  for (const limit of kernelLimits) if (!(await isEnough(limit))) low.push(limit)
  return low
}

/** A setting that this kernel does not have limits nothing; neither does a pipe limit of 0. */
async function isEnough(limit: KernelLimit): Promise<boolean> {
  const text = await readFile(pathOf(limit), 'utf8').catch(() => '0')
  const value = BigInt(text.trim())
  return value === 0n || value >= limit.enough
}

function pathOf({ name }: KernelLimit): string {
  return join('/proc/sys', name)
}
