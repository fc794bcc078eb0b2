import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { InstanceStats } from '../backend.ts'
import type { CgroupLayout, Controller } from './cgroup-layout.ts'
import { runTool } from './run-tool.ts'

// v1 reports "no limit" as the largest page-aligned number.
const unlimited = 2 ** 62

export async function readStats(
  layout: CgroupLayout,
  key: string,
  id: string,
  upper: string,
): Promise<InstanceStats> {
  const read = async (name: Controller, v1: string, v2: string): Promise<string> => {
    const at = layout.controllers.get(name)
    if (!at) return ''
    const file = join(at.mount, 'forkpoint', key, id, at.version === 1 ? v1 : v2)
    return readFile(file, 'utf8').catch(() => '')
  }
  const [memory, memoryLimit, cpu, processes, processLimit, disk] = await Promise.all([
    read('memory', 'memory.usage_in_bytes', 'memory.current'),
    read('memory', 'memory.limit_in_bytes', 'memory.max'),
    cpuMs(layout, key, id),
    read('pids', 'pids.current', 'pids.current'),
    read('pids', 'pids.max', 'pids.max'),
    diskBytes(upper),
  ])
  return {
    memoryBytes: Number(memory),
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

/** The v2 hierarchy counts CPU time for every group, also where v1 has the cpu controller. */
async function cpuMs(layout: CgroupLayout, key: string, id: string): Promise<number> {
  if (layout.unified === null) return 0
  const file = join(layout.unified, 'forkpoint', key, id, 'cpu.stat')
  const text = await readFile(file, 'utf8').catch(() => '')
  return Math.round(Number(/^usage_usec (\d+)/m.exec(text)?.[1] ?? 0) / 1000)
}

async function diskBytes(upper: string): Promise<number> {
  const { stdout } = await runTool('du', ['-s', '-B1', '--', upper])
  return Number.parseInt(stdout, 10) || 0
}
