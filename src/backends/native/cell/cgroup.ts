import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processesIn } from '../../../linux/processes-in.ts'
import { mkdir, readdir, readFile, rmdir, writeFile } from '../../../linux/quick-fs.ts'
import type { Limits } from '../../../model/environment.ts'
import { BackendError, type ForkpointError, PrerequisiteError } from '../../../model/errors.ts'
import type { CgroupLayout, Controller } from './cgroup-layout.ts'
import { writeDevicePolicy } from './device-policy.ts'
import { limitSocketMemory } from './socket-memory.ts'

const cpuPeriodUs = 100_000

/** The cgroups of one environment, in every hierarchy it needs; the one that freezes comes first. */
export function cgroupDirs(layout: CgroupLayout, key: string, id: string): string[] {
  const first = layout.unified ?? layout.freezer
  if (first === null) {
    throw new PrerequisiteError('no cgroup hierarchy is mounted that can freeze processes', {
      remedy: 'mount cgroup2 on /sys/fs/cgroup (systemd does), or the v1 freezer controller',
    })
  }
  const mounts = new Set([first])
  for (const { mount } of layout.controllers.values()) mounts.add(mount)
  if (layout.devices !== null) mounts.add(layout.devices.mount)
  return [...mounts].map((mount) => cgroupAt(mount, key, id))
}

/** In one hierarchy. */
export function cgroupAt(mount: string, key: string, id: string): string {
  return join(mount, 'forkpoint', key, id)
}

export async function makeCgroups(
  layout: CgroupLayout,
  key: string,
  id: string,
  limits: Limits,
): Promise<string[]> {
  const dirs = cgroupDirs(layout, key, id)
  for (const dir of dirs) await makeCgroup(layout, dir)
  await setLimits(layout, key, id, limits)
  const memory = layout.controllers.get('memory')
  if (memory?.version === 1 && limits.memoryBytes !== undefined) {
    await limitSocketMemory(cgroupAt(memory.mount, key, id), limits.memoryBytes)
  }
  return dirs
}

export async function setLimits(
  layout: CgroupLayout,
  key: string,
  id: string,
  limits: Limits,
): Promise<void> {
  for (const [file, value] of limitFiles(layout, key, id, limits)) await writeLimit(file, value)
}

/** The last environment of this home may be removing the groups above at the same moment. */
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

/** The v2 controllers must be switched on in every group above the one that is limited. */
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

/** The files to write for `limits`, as pairs of path and text. */
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
  return new PrerequisiteError(`this machine offers no cgroup controller for ${name} limits`, {
    remedy: `enable the ${name} controller, or set limits.${name === 'cpu' ? 'cpus' : name} to none`,
  })
}

async function writeLimit(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw new BackendError(`cannot write ${text} to ${file}: ${(error as Error).message}`, {
      remedy: 'run `forkpoint doctor`; in a container, give it its own writable cgroup tree',
      cause: error,
    })
  }
}

/** Ends every process in these cgroups and removes them; fine if they are not there. */
export async function removeCgroups(dirs: readonly string[]): Promise<void> {
  for (const dir of dirs) await killAll(dir)
  await Promise.all(dirs.map(removeCgroup))
}

async function killAll(dir: string): Promise<void> {
  for (let tries = 0; tries < 5_000; tries += 1) {
    const pids = processesIn(dir)
    if (pids.length === 0) return
    if (tries % 100 === 0) await kill(dir, pids)
    await sleep(1)
  }
  throw new BackendError(`processes in ${dir} survived SIGKILL for 5 s`, {
    remedy: 'a process may be stuck in the kernel (state D); see `ps` on the host, then try again',
  })
}

/** A frozen v2 group can be killed as it is; v1 has to thaw first. */
async function kill(dir: string, pids: readonly number[]): Promise<void> {
  const whole = await writeFile(join(dir, 'cgroup.kill'), '1').then(
    () => true,
    () => false,
  )
  if (whole) return
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {}
  }
  await writeFile(join(dir, 'freezer.state'), 'THAWED').catch(() => {})
}

async function removeCgroup(dir: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await rmdir(dir)
      break
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') break
      // Processes that have just died are still counted for a moment.
      if (errnoOf(error) !== 'EBUSY' || tries === 5_000) throw cannotRemove(dir, error)
      await sleep(1)
    }
  }
  await removeEmptyParents(dir)
}

/** The groups above are shared by all environments of this home; the last one out removes them. */
async function removeEmptyParents(dir: string): Promise<void> {
  await rmdir(dirname(dir))
    .then(() => rmdir(dirname(dirname(dir))))
    .catch(() => {})
}

/** What is left of this home's groups when there is no environment; fine if there is nothing. */
export async function removeHomeCgroups(layout: CgroupLayout, key: string): Promise<void> {
  await Promise.all(cgroupDirs(layout, key, 'none').map(removeEmptyParents))
}

function cannotRemove(dir: string, cause: unknown): BackendError {
  return new BackendError(`cannot remove the cgroup ${dir}: ${(cause as Error).message}`, {
    remedy: 'see what uses it in its files cgroup.procs and tasks, then try again',
    cause,
  })
}

/** Names of the cgroups under this home's key, in any hierarchy. */
export async function cgroupNames(layout: CgroupLayout, key: string): Promise<string[]> {
  const found = new Set<string>()
  for (const dir of cgroupDirs(layout, key, 'x')) {
    const entries = await readdir(dirname(dir), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) if (entry.isDirectory()) found.add(entry.name)
  }
  return [...found]
}
