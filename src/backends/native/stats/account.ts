import { pagesInside } from '../../../criu/memory/pages-files.ts'
import type { MemoryAccount } from '../../backend.ts'

/** What the kernel reports about the memory of one process. */
export interface ProcessMaps {
  /** /proc/PID/smaps_rollup */
  readonly rollup: string
  /** /proc/PID/smaps */
  readonly smaps: string
}

/**
 * The memory that an environment uses. Memory that its processes share is divided among them. Written
 * pages count as private, whatever they were mapped from. Each pages file counts once, with the size that
 * the process with the most of it has in memory.
 */
export function accountMemory(processes: readonly ProcessMaps[]): MemoryAccount {
  const privateBytes = sum(processes.map(({ rollup }) => privateOf(rollup)))
  const shared = new Map<string, number>()
  for (const { smaps } of processes) {
    for (const [path, bytes] of residentPages(smaps)) {
      shared.set(path, Math.max(shared.get(path) ?? 0, bytes))
    }
  }
  const sharedBytes = sum([...shared.values()])
  return { privateBytes, sharedBytes, totalBytes: privateBytes + sharedBytes }
}

/** The private memory of a process, from its smaps_rollup. */
export function privateOf(rollup: string): number {
  return sum(['Pss_Anon', 'Pss_Shmem', 'SwapPss'].map((field) => fieldOf(rollup, field)))
}

/** Unwritten bytes that a process has in memory of each pages file. */
function residentPages(smaps: string): Map<string, number> {
  const resident = new Map<string, number>()
  for (const area of smaps.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)) {
    const path = area.slice(0, area.indexOf('\n')).split(/\s+/)[5] ?? ''
    if (!path.startsWith(`${pagesInside}/`)) continue
    const bytes = fieldOf(area, 'Rss') - fieldOf(area, 'Anonymous')
    resident.set(path, (resident.get(path) ?? 0) + bytes)
  }
  return resident
}

function fieldOf(text: string, field: string): number {
  return Number(new RegExp(`^${field}: +(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
