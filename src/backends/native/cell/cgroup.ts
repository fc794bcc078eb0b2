import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ifExists } from '../../../linux/files/if-exists.ts'
import { mkdir, readFile, rmdir, writeFile } from '../../../linux/files/quick-fs.ts'
import { processesIn } from '../../../linux/processes-in.ts'
import type { Limits } from '../../../model/environment.ts'
import { BackendError, type ForkpointError, PrerequisiteError } from '../../../model/errors.ts'
import { patience } from '../../../model/values/patience.ts'
import type { CgroupLayout, Controller } from './cgroup-layout.ts'
import { writeDevicePolicy } from './device-policy.ts'
import { limitSocketMemory } from './socket-memory.ts'

const cpuPeriodUs = 100_000

/** The cgroups of one life, one per hierarchy; the one that freezes comes first. */
export type Cgroups = readonly [freezing: string, ...others: string[]]

export function cgroupDirs(layout: CgroupLayout, key: string, id: string): Cgroups {
  const first = layout.unified ?? layout.freezer
  if (first === null) {
    throw new PrerequisiteError('no mounted cgroup hierarchy can freeze processes', {
      remedy: 'mount cgroup2 on /sys/fs/cgroup (systemd does), or the v1 freezer controller',
    })
  }
  const mounts = new Set([...layout.controllers.values()].map(({ mount }) => mount))
  if (layout.devices !== null) mounts.add(layout.devices.mount)
  mounts.delete(first)
  return [cgroupAt(first, key, id), ...[...mounts].map((mount) => cgroupAt(mount, key, id))]
}

/** A cgroup in one hierarchy. */
export function cgroupAt(mount: string, key: string, id: string): string {
  return join(mount, 'forkpoint', key, id)
}

export async function makeCgroups(
  layout: CgroupLayout,
  key: string,
  id: string,
  limits: Limits,
): Promise<Cgroups> {
  const [first, ...others] = cgroupDirs(layout, key, id)
  const needed = others.filter((dir) => hasIoLimits(limits) || !isOnlyForIo(layout, dir))
  const dirs: Cgroups = [first, ...needed]
  for (const dir of dirs) await makeCgroup(layout, dir)
  await setLimits(layout, key, id, limits)
  const memory = layout.controllers.get('memory')
  if (memory?.version === 1 && limits.memoryBytes !== undefined) {
    await limitSocketMemory(cgroupAt(memory.mount, key, id), limits.memoryBytes)
  }
  return dirs
}

export function hasIoLimits({ ioReadBytes, ioWriteBytes }: Limits): boolean {
  return ioReadBytes !== undefined || ioWriteBytes !== undefined
}

/** Few environments limit reads and writes, and one more group costs time at every start. */
function isOnlyForIo({ controllers, devices }: CgroupLayout, dir: string): boolean {
  const users = [...controllers].filter(([, { mount }]) => dir.startsWith(`${mount}/`))
  const isForDevices = devices !== null && dir.startsWith(`${devices.mount}/`)
  return !isForDevices && users.every(([name]) => name === 'io')
}

export async function setLimits(
  layout: CgroupLayout,
  key: string,
  id: string,
  limits: Limits,
): Promise<void> {
  for (const [file, value] of limitFiles(layout, key, id, limits)) await writeLimit(file, value)
}

/** Tries again, because the last environment of this home may be removing the groups above. */
export async function makeCgroup(layout: CgroupLayout, dir: string): Promise<void> {
  const { unified, devices } = layout
  for (let tries = 0; ; tries += 1) {
    try {
      if (dir.startsWith(`${unified}/`)) await delegateControllers(layout, dirname(dir))
      await mkdir(dir)
      break
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') break
      if (errnoOf(error) !== 'ENOENT' || tries === 100) throw error
      await mkdir(dirname(dir), { recursive: true })
    }
  }
  if (devices?.version === 1 && dir.startsWith(`${devices.mount}/`)) await writeDevicePolicy(dir)
}

function errnoOf(error: unknown): string | undefined {
  const { code, cause } = error as NodeJS.ErrnoException
  return error instanceof BackendError && cause ? errnoOf(cause) : code
}

/** The v2 controllers must be enabled in every group above the limited one. */
async function delegateControllers(layout: CgroupLayout, parent: string): Promise<void> {
  const wanted = [...layout.controllers].filter(([, at]) => at.version === 2).map(([name]) => name)
  if (wanted.length === 0) return
  const text = wanted.map((name) => `+${name}`).join(' ')
  for (const dir of [dirname(dirname(parent)), dirname(parent), parent]) {
    const enabled = (await readFile(join(dir, 'cgroup.subtree_control'), 'utf8')).split(/\s+/)
    if (wanted.every((name) => enabled.includes(name))) continue
    await writeLimit(join(dir, 'cgroup.subtree_control'), text)
  }
}

/** The files to write for `limits`, as pairs of a path and a text. */
export function limitFiles(
  layout: CgroupLayout,
  key: string,
  id: string,
  limits: Limits,
): [string, string][] {
  const files: [string, string][] = []
  const put = (name: Controller, v1: [string, string][], v2: [string, string][]) => {
    const at = layout.controllers.get(name)
    if (!at) throw noController(name)
    const dir = cgroupAt(at.mount, key, id)
    for (const [file, text] of at.version === 1 ? v1 : v2) files.push([join(dir, file), text])
  }
  if (limits.memoryBytes !== undefined) {
    const bytes = String(limits.memoryBytes)
    put('memory', [['memory.limit_in_bytes', bytes]], [['memory.max', bytes]])
  }
  if (limits.cpus !== undefined) {
    const quota = String(Math.round(limits.cpus * cpuPeriodUs))
    put(
      'cpu',
      [
        ['cpu.cfs_period_us', String(cpuPeriodUs)],
        ['cpu.cfs_quota_us', quota],
      ],
      [['cpu.max', `${quota} ${cpuPeriodUs}`]],
    )
  }
  if (limits.pids !== undefined) {
    const count = String(limits.pids)
    put('pids', [['pids.max', count]], [['pids.max', count]])
  }
  return files
}

function noController(name: Controller): ForkpointError {
  return new PrerequisiteError(`this machine has no cgroup controller for ${name} limits`, {
    remedy: `enable the ${name} controller, or set limits.${name === 'cpu' ? 'cpus' : name} to none`,
  })
}

export async function writeLimit(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw new BackendError(`cannot write ${text} to ${file}: ${(error as Error).message}`, {
      remedy: 'run `forkpoint doctor`; in a container, give it its own writable cgroup tree',
      cause: error,
    })
  }
}

/** Kills every process in these cgroups and removes them; does nothing if they do not exist. */
export async function removeCgroups(dirs: readonly string[]): Promise<void> {
  for (const dir of dirs) await killAll(dir)
  await Promise.all(dirs.map(removeCgroup))
}

/** How long the kernel may take to end processes, and to forget them. */
const longestSeconds = 5

async function killAll(dir: string): Promise<void> {
  const deadline = performance.now() + patience(longestSeconds)
  for (let tries = 0; performance.now() < deadline; tries += 1) {
    const pids = processesIn(dir)
    if (pids.length === 0) return
    if (tries % 100 === 0) await kill(dir, pids)
    await sleep(1)
  }
  throw new BackendError(`processes in ${dir} survived SIGKILL for 5 s`, {
    remedy: 'look for a process in state D with `ps` on the host, and try again once it has ended',
  })
}

/** A frozen v2 group can be killed directly; a v1 group must be thawed. */
async function kill(dir: string, pids: readonly number[]): Promise<void> {
  if (await isWritten(join(dir, 'cgroup.kill'), '1')) return
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has ended by itself.
    }
  }
  await isWritten(join(dir, 'freezer.state'), 'THAWED')
}

/** False if the file does not exist, or no longer does. Nothing is lost: `killAll` checks again. */
async function isWritten(file: string, text: string): Promise<boolean> {
  return await writeFile(file, text).then(
    () => true,
    () => false,
  )
}

async function removeCgroup(dir: string): Promise<void> {
  const deadline = performance.now() + patience(longestSeconds)
  for (;;) {
    try {
      await rmdir(dir)
      break
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') break
      // The kernel still counts processes for a moment after they die.
      if (errnoOf(error) !== 'EBUSY' || performance.now() > deadline) throw cannotRemove(dir, error)
      await sleep(1)
    }
  }
  await removeEmptyParents(dir)
}

/** All environments of this home share the groups above; the last one removes them. */
async function removeEmptyParents(dir: string): Promise<void> {
  try {
    await rmdir(dirname(dir))
    await rmdir(dirname(dirname(dir)))
  } catch {
    // Others still use it, or have removed it.
  }
}

/** Removes the groups of a home that has no environments; does nothing if there are none. */
export async function removeHomeCgroups(layout: CgroupLayout, key: string): Promise<void> {
  await Promise.all(cgroupDirs(layout, key, 'none').map(removeEmptyParents))
}

function cannotRemove(dir: string, cause: unknown): BackendError {
  return new BackendError(`cannot remove the cgroup ${dir}: ${(cause as Error).message}`, {
    remedy:
      'see which processes use it in its files cgroup.procs and tasks, end them, and try again',
    cause,
  })
}

/** Names of the cgroups under this home's key, in all hierarchies. */
export async function cgroupNames(layout: CgroupLayout, key: string): Promise<string[]> {
  const found = new Set<string>()
  for (const dir of cgroupDirs(layout, key, 'x')) {
    const entries = ifExists(() => readdirSync(dirname(dir), { withFileTypes: true }))
    for (const entry of entries ?? []) if (entry.isDirectory()) found.add(entry.name)
  }
  return [...found]
}
