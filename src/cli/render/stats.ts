import type { InstanceStats } from '../../index.ts'
import { formatBytes, formatDuration } from '../../model/quantities.ts'

/** `cpus`: how many were busy since the last look, where there was one. */
export function statsFacts(stats: InstanceStats, cpus?: number): [string, string][] {
  const { memoryBytes, memoryLimitBytes, memory, cpuMs, processes, processLimit, diskBytes } = stats
  const busy = cpus === undefined ? '' : `, ${Math.round(cpus * 100)} % of a cpu now`
  return [
    ['memory', ofLimit(memoryBytes, memoryLimitBytes, formatBytes)],
    ['private', formatBytes(memory.privateBytes)],
    ['shared', `${formatBytes(memory.sharedBytes)} of its snapshots' pages`],
    ['cpu time', `${formatDuration(cpuMs)}${busy}`],
    ['processes', ofLimit(processes, processLimit, String)],
    ['files changed', formatBytes(diskBytes)],
  ]
}

function ofLimit(used: number, limit: number | null, format: (n: number) => string): string {
  return limit === null ? format(used) : `${format(used)} of ${format(limit)}`
}
