import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ifThere } from '../../../linux/if-there.ts'
import { processesIn } from '../../../linux/processes-in.ts'
import { writeFile } from '../../../linux/quick-fs.ts'
import { runCell } from '../../../linux/run-cell.ts'
import { cgroupAt, cgroupDirs, cgroupNames, makeCgroup } from './cgroup.ts'
import type { CgroupLayout } from './cgroup-layout.ts'

/** As in native/cell/walls/devices.c: the mode of a v2 group that has the policy. */
const limitedMode = 0o700

/**
 * Gives environments the policy of devices that were started by a version without it, and says which:
 * the names of their cgroups. Others get it as they start, so this is a look at one directory or two.
 */
export async function limitRunning(layout: CgroupLayout, key: string): Promise<string[]> {
  if (layout.devices === null) return []
  const { mount, version } = layout.devices
  return version === 1 ? moveRunning(layout, mount, key) : limitHome(layout, mount, key)
}

function homeGroup(mount: string, key: string): string {
  return dirname(cgroupAt(mount, key, 'any'))
}

async function limitHome(layout: CgroupLayout, mount: string, key: string): Promise<string[]> {
  const group = homeGroup(mount, key)
  const mode = ifThere(() => statSync(group).mode)
  if (mode === null || (mode & 0o7777) === limitedMode) return []
  // Where the kernel cannot, `doctor` says so; it is the second wall.
  await runCell('limiting devices', ['limit-devices', group]).catch(() => {})
  return await cgroupNames(layout, key)
}

/** In v1 every hierarchy has its own groups. */
async function moveRunning(layout: CgroupLayout, mount: string, key: string): Promise<string[]> {
  const names = (await cgroupNames(layout, key)).filter(
    (name) => !existsSync(cgroupAt(mount, key, name)),
  )
  for (const name of names) {
    const dir = cgroupAt(mount, key, name)
    await makeCgroup(layout, dir)
    const [first = ''] = cgroupDirs(layout, key, name)
    for (const pid of processesIn(first)) {
      // One that has ended meanwhile opens nothing.
      await writeFile(join(dir, 'cgroup.procs'), String(pid)).catch(() => {})
    }
  }
  return names
}

/** Why processes of this home's cells are not kept from devices by their cgroup; null if they are. */
export async function whyNoDevicePolicy(layout: CgroupLayout, key: string): Promise<string | null> {
  if (layout.devices === null) return 'neither BPF for cgroup v2 nor the v1 controller'
  if (layout.devices.version === 1) return null
  const group = homeGroup(layout.devices.mount, key)
  return await runCell('limiting devices', ['limit-devices', group]).then(
    () => null,
    (error: Error) => error.message,
  )
}
