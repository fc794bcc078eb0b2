// Finds and removes what a test run left on the machine. Other Forkpoint homes may be
// in use at the same time: only what belongs to the run's own home is touched.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type Leftover =
  | { kind: 'process'; pid: number; startTime: string; command: string }
  | { kind: 'mount'; path: string }
  | { kind: 'loop device'; device: string; file: string }
  | { kind: 'cgroup'; path: string }
  | { kind: 'network interface'; name: string }

export function findLeftovers(home: string): Leftover[] {
  const keys = homeKeys(home)
  return [
    ...findProcesses(home),
    ...findMounts(home),
    ...findLoopDevices(home),
    ...keys.flatMap(findCgroups),
    ...keys.flatMap(findInterfaces),
  ]
}

/**
 * How the native backend names what carries no path (src/backends/native/places.ts).
 * A test that needs another home makes it directly inside the run's.
 */
function homeKeys(home: string): string[] {
  return [home, ...listDirectories(home)].map((path) =>
    createHash('sha256').update(path).digest('hex').slice(0, 8),
  )
}

export function describeLeftover(leftover: Leftover): string {
  switch (leftover.kind) {
    case 'process':
      return `process ${leftover.pid}: ${leftover.command}`
    case 'mount':
      return `mount ${leftover.path}`
    case 'loop device':
      return `loop device ${leftover.device} on ${leftover.file}`
    case 'cgroup':
      return `cgroup ${leftover.path}`
    case 'network interface':
      return `network interface ${leftover.name}`
  }
}

/** Removes them in the given order (processes hold the rest); returns what could not be removed. */
export async function removeLeftovers(leftovers: Leftover[]): Promise<string[]> {
  const stuck: string[] = []
  for (const leftover of leftovers) {
    try {
      await remove(leftover)
    } catch (error) {
      stuck.push(`could not remove ${describeLeftover(leftover)}: ${String(error)}`)
    }
  }
  return stuck
}

/** What a home keeps while it exists: its empty top cgroups and its packet filter tables. */
export function removeHomeFurniture(home: string): void {
  for (const key of homeKeys(home)) {
    for (const path of cgroupsOfHome(key)) rmdirSync(path)
    for (const family of ['ip', 'ip6']) removeTable(family, `forkpoint_${key}`)
  }
}

function removeTable(family: string, name: string): void {
  const isThere = spawnSync('nft', ['list', 'table', family, name]).status === 0
  if (isThere) execFileSync('nft', ['delete', 'table', family, name])
}

async function remove(leftover: Leftover): Promise<void> {
  switch (leftover.kind) {
    case 'process':
      if (readStartTime(leftover.pid) !== leftover.startTime) return
      process.kill(leftover.pid, 'SIGKILL')
      return waitUntil(() => readStartTime(leftover.pid) !== leftover.startTime)
    case 'mount':
      execFileSync('umount', ['-l', leftover.path], { stdio: 'pipe' })
      return
    case 'loop device':
      execFileSync('losetup', ['-d', leftover.device], { stdio: 'pipe' })
      return
    case 'cgroup':
      return removeCgroup(leftover.path)
    case 'network interface':
      // The far end disappears with the near one, and with its namespace.
      if (listInterfaces().includes(leftover.name))
        execFileSync('ip', ['link', 'delete', leftover.name], { stdio: 'pipe' })
  }
}

async function removeCgroup(path: string): Promise<void> {
  if (!existsSync(path)) return
  const kill = join(path, 'cgroup.kill')
  if (existsSync(kill)) writeFileSync(kill, '1')
  await waitUntil(() => readIfThere(join(path, 'cgroup.procs')).trim() === '')
  rmdirSync(path)
}

/** Waits up to two seconds: the kernel reaps killed trees in milliseconds. */
async function waitUntil(done: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (done()) return
    await sleep(10)
  }
  throw new Error('still exists after 2 s')
}

/**
 * Processes that name the home, and those in a cell's cgroup. Mounts prove nothing: they
 * propagate to namespaces of unrelated processes.
 */
function findProcesses(home: string): Leftover[] {
  const cells = homeKeys(home).map((key) => `/forkpoint/${key}/`)
  const family = ownFamily()
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => !family.has(pid) && parentOf(pid) !== process.pid)
    .flatMap((pid): Leftover[] => {
      const command = readIfThere(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()
      const environment = readIfThere(`/proc/${pid}/environ`).split('\0')
      const cgroups = readIfThere(`/proc/${pid}/cgroup`)
      const isOurs =
        command.includes(home) ||
        environment.includes(`FORKPOINT_HOME=${home}`) ||
        cells.some((cell) => cgroups.includes(cell))
      const startTime = readStartTime(pid)
      return isOurs && startTime !== undefined ? [{ kind: 'process', pid, startTime, command }] : []
    })
}

/** The runner and its ancestors up to pid 1, which are never leftovers. Its children are workers. */
function ownFamily(): ReadonlySet<number> {
  const family = new Set([0, 1])
  for (let pid = process.pid; pid > 1; pid = parentOf(pid)) family.add(pid)
  return family
}

function parentOf(pid: number): number {
  return Number(readStatFields(pid)[1] ?? 0)
}

/** Deepest first, the order in which to unmount them. */
function findMounts(home: string): Leftover[] {
  return readIfThere('/proc/self/mountinfo')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path === home || path.startsWith(`${home}/`))
    .reverse()
    .map((path) => ({ kind: 'mount', path }))
}

function findLoopDevices(home: string): Leftover[] {
  return readdirSync('/sys/block')
    .filter((name) => name.startsWith('loop'))
    .map((name) => ({
      device: `/dev/${name}`,
      file: readIfThere(`/sys/block/${name}/loop/backing_file`).trim(),
    }))
    .filter(({ file }) => file.startsWith(`${home}/`))
    .map(({ device, file }) => ({ kind: 'loop device', device, file }))
}

/** The cgroups of a home's cells, in any hierarchy, deepest first. */
function findCgroups(key: string): Leftover[] {
  return cgroupsOfHome(key)
    .flatMap((path) => listBelow(path))
    .map((path) => ({ kind: 'cgroup', path }))
}

function cgroupsOfHome(key: string): string[] {
  const top = '/sys/fs/cgroup'
  return [top, ...listDirectories(top)]
    .map((hierarchy) => join(hierarchy, 'forkpoint', key))
    .filter((path) => existsSync(path))
}

function listBelow(path: string): string[] {
  return listDirectories(path).flatMap((child) => [...listBelow(child), child])
}

function listDirectories(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(path, entry.name))
}

function findInterfaces(key: string): Leftover[] {
  return listInterfaces()
    .filter((name) => name.startsWith(`fp${key.slice(0, 4)}`))
    .map((name) => ({ kind: 'network interface', name }))
}

function listInterfaces(): string[] {
  return readdirSync('/sys/class/net')
}

/** Identifies a process together with its pid, which may be used again. */
function readStartTime(pid: number): string | undefined {
  const fields = readStatFields(pid)
  return fields[0] === 'Z' ? undefined : fields[19]
}

/** The fields of /proc/PID/stat from the state on; the name before may hold spaces. */
function readStatFields(pid: number): string[] {
  return readIfThere(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
}

/** Processes and cgroups may disappear while they are read. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
