import { readFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Machine } from './results.ts'
import { versionOf } from './run-tool.ts'

export async function describeMachine(criu: string): Promise<Machine> {
  const programs = { criu, podman: 'podman', runc: 'runc', docker: 'dockerd' }
  const versions = Object.entries(programs).map(
    async ([name, program]) => [name, await versionOf(program)] as const,
  )
  return {
    cpus: cpus().length,
    cpuModel: cpus()[0]?.model.trim() ?? '',
    memoryBytes: totalmem(),
    kernel: release(),
    versions: { node: process.version, ...Object.fromEntries(await Promise.all(versions)) },
  }
}

/** Memory that is available to a new program, according to /proc/meminfo. */
export function availableBytes(): number {
  const [, kib] = /^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? []
  return Number(kib) * 1024
}

const settled = { everyMs: 100, bytes: 2 ** 22, tries: 30 }

/** The same, once it no longer grows: the kernel frees the memory of ended processes bit by bit. */
export async function settledAvailableBytes(): Promise<number> {
  let last = availableBytes()
  for (let tries = 0; tries < settled.tries; tries += 1) {
    await sleep(settled.everyMs)
    const now = availableBytes()
    if (now - last < settled.bytes) return now
    last = now
  }
  return last
}
