import { join } from 'node:path'
import type { Limits } from '../../../model/environment.ts'
import { ResourceError } from '../../../model/errors.ts'
import { formatBytes } from '../../../model/values/quantities.ts'
import type { Cgroups } from '../cell/cgroup.ts'
import type { CgroupLayout } from '../cell/cgroup-layout.ts'
import { kernelText } from './kernel-text.ts'

export interface Watched {
  readonly layout: CgroupLayout
  /** of one life, which begins with this work */
  readonly cgroups: Cgroups
  readonly limits: Limits
}

/** Blames a failure on a lack of memory if the kernel has ended a process for it, whatever was reported. */
export async function explainedIfOutOfMemory<T>(
  doing: string,
  { layout, cgroups, limits }: Watched,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ((await killedIn(layout, cgroups)) === 0) throw error
    const { memoryBytes } = limits
    const of = memoryBytes === undefined ? '' : `; its limit is ${formatBytes(memoryBytes)}`
    throw new ResourceError(`${doing}: the kernel ended a process for lack of memory${of}`, {
      remedy: 'remove other environments, or use one with a higher memory limit',
      detail: { ...(memoryBytes !== undefined && { limitBytes: memoryBytes }) },
      cause: error,
    })
  }
}

/** How many processes of a life the kernel has ended to get memory. */
async function killedIn({ controllers }: CgroupLayout, cgroups: Cgroups): Promise<number> {
  const at = controllers.get('memory')
  const dir = at && cgroups.find((path) => path.startsWith(`${at.mount}/`))
  if (!at || dir === undefined) return 0
  const text = await kernelText(
    join(dir, at.version === 1 ? 'memory.oom_control' : 'memory.events'),
  )
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0)
}
