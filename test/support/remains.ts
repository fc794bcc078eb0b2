// What exists on the machine of one Forkpoint home, according to the kernel.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { patiently } from './patiently.ts'
import type { TestHome } from './test-home.ts'

export interface Remains {
  readonly mounts: string[]
  readonly loopDevices: string[]
  readonly cgroups: string[]
  readonly processes: string[]
  readonly interfaces: string[]
  readonly nftTables: string[]
  /** next to the database */
  readonly files: string[]
}

export const nothing: Remains = {
  mounts: [],
  loopDevices: [],
  cgroups: [],
  processes: [],
  interfaces: [],
  nftTables: [],
  files: [],
}

/**
 * Every mount is also in the namespace of a cell that anyone makes at this moment, and keeps its
 * loop device for some milliseconds; everything else must be gone immediately.
 */
export async function expectNothing(home: Pick<TestHome, 'path' | 'key'>): Promise<void> {
  expect({ ...remainsOf(home), loopDevices: [] }).toEqual(nothing)
  await expect.poll(() => remainsOf(home), patiently).toEqual(nothing)
}

export function remainsOf({ path, key }: Pick<TestHome, 'path' | 'key'>): Remains {
  return {
    mounts: linesOf('/proc/self/mountinfo').filter((line) => line.includes(path)),
    loopDevices: loopDevicesOf(path),
    cgroups: cgroupsOf(key),
    processes: processesOf(path),
    interfaces: readdirSync('/sys/class/net').filter((name) =>
      name.startsWith(`fp${key.slice(0, 4)}`),
    ),
    nftTables: nftTables().filter((name) => name.includes(key)),
    files: readdirSync(path).filter(
      (name) => !name.startsWith('db.sqlite') && !['logs', 'audit.log'].includes(name),
    ),
  }
}

/** Processes of cells: their mounts come from the home. */
function processesOf(home: string): string[] {
  const own = readlinkSync('/proc/self/ns/mnt')
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && mountNamespace(name) !== own)
    .filter((pid) => linesOf(`/proc/${pid}/mountinfo`).some((line) => line.includes(home)))
}

function mountNamespace(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`)
  } catch {
    return ''
  }
}

function cgroupsOf(key: string): string[] {
  const top = '/sys/fs/cgroup'
  const hierarchies = [top, ...readdirSync(top).map((name) => join(top, name))]
  return hierarchies
    .map((hierarchy) => join(hierarchy, 'forkpoint', key))
    .filter((path) => existsSync(path))
}

function loopDevicesOf(home: string): string[] {
  return readdirSync('/sys/block').filter((name) =>
    linesOf(`/sys/block/${name}/loop/backing_file`).some((line) => line.startsWith(home)),
  )
}

function nftTables(): string[] {
  try {
    const text = execFileSync('nft', ['list', 'tables'], { encoding: 'utf8', stdio: 'pipe' })
    return text.split('\n').filter(Boolean)
  } catch {
    // Without nft, there are no tables.
    return []
  }
}

/** Files of /proc and /sys may disappear while they are read. */
function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}
