// The processes of an environment as the host sees them.
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Cgroups, cgroupDirs } from '../../src/backends/native/cell/cgroup.ts'
import { detectLayout } from '../../src/backends/native/cell/cgroup-layout.ts'
import type { Environment } from '../../src/index.ts'
import { environmentPlaces } from './environment-places.ts'
import type { TestHome } from './test-home.ts'

/** Those that it has: not every life needs one in each hierarchy. */
export function cgroupsOf(home: TestHome, env: Environment): Cgroups {
  const { dir } = environmentPlaces(home.path, env.id)
  const [first, ...others] = cgroupDirs(detectLayout(), home.key, `${env.id}-${basename(dir)}`)
  return [first, ...others.filter((group) => existsSync(group))]
}

export function hostPids(home: TestHome, env: Environment): number[] {
  const [dir] = cgroupsOf(home, env)
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
