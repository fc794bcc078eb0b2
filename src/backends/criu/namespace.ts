import { readlinkSync } from 'node:fs'
import { allPids } from '../../linux/lives/named-processes.ts'
import { readOfProcess } from '../../linux/process-files.ts'

/** The processes in the pid namespace of process 1, without that one. */
export function processesBeside(first: number): number[] {
  const namespace = namespaceOf(first)
  if (namespace === null) return []
  return allPids().filter((pid) => pid !== first && namespaceOf(pid) === namespace)
}

function namespaceOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    // It has ended.
    return null
  }
}

/** Ends a stop, if there is one. */
export function continueProcesses(first: number): void {
  for (const pid of processesBeside(first)) {
    try {
      process.kill(pid, 'SIGCONT')
    } catch {
      // It has ended by itself.
    }
  }
}

export interface Usage {
  readonly residentBytes: number
  readonly cpuMs: number
}

/** A clock tick of /proc, as on every machine that Linux runs on. */
const tickMs = 10

export function usageOf(pids: readonly number[]): Usage {
  let residentBytes = 0
  let cpuMs = 0
  for (const pid of pids) {
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readOfProcess(pid, 'status') ?? '')?.[1] ?? 0
    residentBytes += 1024 * Number(kilobytes)
    const stat = readOfProcess(pid, 'stat') ?? ''
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    cpuMs += tickMs * (Number(fields[11] ?? 0) + Number(fields[12] ?? 0))
  }
  return { residentBytes, cpuMs }
}
