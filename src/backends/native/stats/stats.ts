import { join } from 'node:path'
import { treeBytes } from '../../../linux/files/tree-bytes.ts'
import { processesIn } from '../../../linux/processes-in.ts'
import { terminalsOf } from '../../../linux/terminals-of.ts'
import type { SnapshotId } from '../../../model/ids.ts'
import type { InstanceStats, MemoryAccount, Ref } from '../../backend.ts'
import { cgroupAt } from '../cell/cgroup.ts'
import type { CgroupLayout, Controller } from '../cell/cgroup-layout.ts'
import { fromRecord } from '../instance.ts'
import type { Native } from '../native.ts'
import { bytesWritten } from '../overlay/subvolumes/subvolumes.ts'
import { cgroupName } from '../places.ts'
import { accountMemory } from './account.ts'
import { kernelText } from './kernel-text.ts'

// v1 reports "no limit" as the largest page-aligned number.
const unlimited = 2 ** 62

export async function readStats(
  native: Native,
  { id, instance }: Ref,
  head: SnapshotId | null,
): Promise<InstanceStats> {
  const { layout, places } = native
  const { slot, files, disk: limited } = fromRecord(instance)
  const group = cgroupName(id, slot)
  const read = async (name: Controller, v1: string, v2: string): Promise<string> => {
    const at = layout.controllers.get(name)
    if (!at) return ''
    const file = join(cgroupAt(at.mount, places.key, group), at.version === 1 ? v1 : v2)
    return kernelText(file)
  }
  const [memory, memoryLimit, account, cpu, processes, processLimit, disk, use] = await Promise.all(
    [
      read('memory', 'memory.usage_in_bytes', 'memory.current'),
      read('memory', 'memory.limit_in_bytes', 'memory.max'),
      readAccount(native.cgroups(id, slot)[0]),
      cpuMs(layout, places.key, group),
      read('pids', 'pids.current', 'pids.current'),
      read('pids', 'pids.max', 'pids.max'),
      files === 'subvolume'
        ? bytesWritten(native.tools, places.filesOf(id, slot), head && places.filesIn(head))
        : treeBytes(native.tools, places.slot(id, slot).upper),
      limited ? native.disks.set(places.filesOf(id, slot), limited.bytes) : null,
    ],
  )
  return {
    memoryBytes: Number(memory),
    memory: account,
    memoryLimitBytes: limit(memoryLimit),
    cpuMs: cpu,
    processes: Number(processes),
    processLimit: limit(processLimit),
    terminals: terminalsOf(processesIn(native.cgroups(id, slot)[0])),
    diskBytes: disk,
    diskUsedBytes: use?.usedBytes ?? null,
    diskLimitBytes: use?.bytes ?? null,
  }
}

function limit(text: string): number | null {
  const value = Number.parseInt(text, 10)
  return Number.isNaN(value) || value >= unlimited ? null : value
}

async function readAccount(cgroup: string): Promise<MemoryAccount> {
  const pids = processesIn(cgroup)
  const read = (pid: number, name: string) => kernelText(`/proc/${pid}/${name}`)
  const processes = pids.map(async (pid) => {
    const [rollup, smaps] = await Promise.all([read(pid, 'smaps_rollup'), read(pid, 'smaps')])
    return { rollup, smaps }
  })
  return accountMemory(await Promise.all(processes))
}

/** The v2 hierarchy counts the CPU time of every group, even if v1 has the cpu controller. */
async function cpuMs(layout: CgroupLayout, key: string, id: string): Promise<number> {
  if (layout.unified === null) return 0
  const file = join(cgroupAt(layout.unified, key, id), 'cpu.stat')
  const text = await kernelText(file)
  return Math.round(Number(/^usage_usec (\d+)/m.exec(text)?.[1] ?? 0) / 1000)
}
