import { readFileSync } from 'node:fs'

/** How scarce memory is on this machine. */
export interface MemoryReading {
  readonly availableBytes: number
  readonly totalBytes: number
  /** share of the last ten seconds in which some process waited for memory, in percent */
  readonly stalledPercent: number
}

const minAvailable = 0.1
/** Measured: heavy swapping or reclaiming is far above this; an idle or a compiling machine is at 0. */
const maxStalledPercent = 10
/** With more than this available, processes wait because of the limit of their own cgroup, which is nobody else's matter. */
const plentyAvailable = 0.5

export function isUnderPressure(reading: MemoryReading): boolean {
  const { availableBytes, totalBytes, stalledPercent } = reading
  const available = availableBytes / totalBytes
  if (available < minAvailable) return true
  return stalledPercent > maxStalledPercent && available < plentyAvailable
}

export function readMemory(): MemoryReading {
  return parseReading(read('/proc/meminfo'), read('/proc/pressure/memory'))
}

/** `pressure` is empty if the kernel has no pressure information. */
export function parseReading(meminfo: string, pressure: string): MemoryReading {
  const kib = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(meminfo)?.[1] ?? 0)
  return {
    availableBytes: kib('MemAvailable') * 1024,
    totalBytes: kib('MemTotal') * 1024,
    stalledPercent: Number(/^some avg10=([\d.]+)/m.exec(pressure)?.[1] ?? 0),
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Only the pressure file may be missing; then no stalls are known.
    return ''
  }
}
