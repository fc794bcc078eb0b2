import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processesIn } from '../../../linux/processes-in.ts'
import { runTool } from '../../../linux/run-tool.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { InstanceStats, MemoryAccount } from '../../backend.ts'
import { cgroupAt } from '../cell/cgroup.ts'
import type { CgroupLayout, Controller } from '../cell/cgroup-layout.ts'
import type { Native } from '../native.ts'
import { cgroupName } from '../places.ts'
import { accountMemory } from './account.ts'

// v1 reports "no limit" as the largest page-aligned number.
const unlimited = 2 ** 62

export async function readStats(
  native: Native,
  id: EnvironmentId,
  slot: number,
): Promise<InstanceStats> {
  const { layout, places } = native
  const group = cgroupName(id, slot)
  const read = async (name: Controller, v1: string, v2: string): Promise<string> => {
    const at = layout.controllers.get(name)
    if (!at) return ''
    const file = join(cgroupAt(at.mount, places.key, group), at.version === 1 ? v1 : v2)
    return readFile(file, 'utf8').catch(() => '')
  }
  const [memory, memoryLimit, account, cpu, processes, processLimit, disk] = await Promise.all([
    read('memory', 'memory.usage_in_bytes', 'memory.current'),
    read('memory', 'memory.limit_in_bytes', 'memory.max'),
    readAccount(native.cgroups(id, slot)[0] ?? ''),
    cpuMs(layout, places.key, group),
    read('pids', 'pids.current', 'pids.current'),
    read('pids', 'pids.max', 'pids.max'),
    treeBytes(places.slot(id, slot).upper),
  ])
  return {
    memoryBytes: Number(memory),
    memory: account,
    memoryLimitBytes: limit(memoryLimit),
    cpuMs: cpu,
    processes: Number(processes),
    processLimit: limit(processLimit),
    diskBytes: disk,
  }
}

function limit(text: string): number | null {
  const value = Number.parseInt(text, 10)
  return Number.isNaN(value) || value >= unlimited ? null : value
}

async function readAccount(cgroup: string): Promise<MemoryAccount> {
  const pids = processesIn(cgroup)
  const read = (pid: number, name: string) =>
    readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
  const processes = pids.map(async (pid) => {
    const [rollup, smaps] = await Promise.all([read(pid, 'smaps_rollup'), read(pid, 'smaps')])
    return { rollup, smaps }
  })
  return accountMemory(await Promise.all(processes))
}

/** The v2 hierarchy counts CPU time for every group, also where v1 has the cpu controller. */
async function cpuMs(layout: CgroupLayout, key: string, id: string): Promise<number> {
  if (layout.unified === null) return 0
  const file = join(cgroupAt(layout.unified, key, id), 'cpu.stat')
  const text = await readFile(file, 'utf8').catch(() => '')
  return Math.round(Number(/^usage_usec (\d+)/m.exec(text)?.[1] ?? 0) / 1000)
}

/** What a tree takes up on disk. */
export async function treeBytes(dir: string): Promise<number> {
  const { stdout } = await runTool('du', ['-s', '-B1', '--', dir])
  return Number.parseInt(stdout, 10) || 0
}
