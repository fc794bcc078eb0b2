// The processes of an environment as the host sees them.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { cgroupDirs } from '../../src/backends/native/cgroup.ts'
import { detectLayout } from '../../src/backends/native/cgroup-layout.ts'
import type { Environment } from '../../src/index.ts'
import type { TestHome } from './test-home.ts'

export function cgroupsOf(home: TestHome, env: Environment): string[] {
  return cgroupDirs(detectLayout(), home.key, env.id)
}

export function hostPids(home: TestHome, env: Environment): number[] {
  const [dir = ''] = cgroupsOf(home, env)
  const text = readFileSync(join(dir, 'cgroup.procs'), 'utf8')
  return text.split('\n').filter(Boolean).map(Number)
}

/** The host's pid of the process that is number 1 inside. */
export function agentPid(home: TestHome, env: Environment): number {
  const found = hostPids(home, env).find((pid) => statusField(pid, 'NSpid').endsWith('\t1'))
  if (found === undefined) throw new Error(`environment ${env.id} has no agent`)
  return found
}

/** A line of /proc/PID/status without its label. */
export function statusField(pid: number | 'self', field: string): string {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return new RegExp(`^${field}:\t(.*)$`, 'm').exec(text)?.[1] ?? ''
}

/** The namespaces that a process is in and this one is not. */
export function ownNamespaces(pid: number): string[] {
  return readdirSync(`/proc/${pid}/ns`)
    .map((name) => [readlinkSync(`/proc/${pid}/ns/${name}`), readlinkSync(`/proc/self/ns/${name}`)])
    .filter(([theirs, ours]) => theirs !== ours)
    .map(([theirs = '']) => theirs)
}

/** Which of these namespaces some process is still in. */
export function inhabited(namespaces: readonly string[]): string[] {
  const seen = new Set<string>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      for (const name of readdirSync(`/proc/${pid}/ns`)) seen.add(readlinkSync(`/proc/${pid}/ns/${name}`))
    } catch {
      // It ended while it was looked at.
    }
  }
  return namespaces.filter((namespace) => seen.has(namespace))
}
