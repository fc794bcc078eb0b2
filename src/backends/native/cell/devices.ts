import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ifExists } from '../../../linux/files/if-exists.ts'
import { writeFile } from '../../../linux/files/quick-fs.ts'
import { processesIn } from '../../../linux/processes-in.ts'
import type { Tools } from '../../../linux/tools.ts'
import type { Log } from '../../../model/log.ts'
import type { Native } from '../native.ts'
import { cgroupAt, cgroupDirs, cgroupNames, makeCgroup } from './cgroup.ts'
import type { CgroupLayout } from './cgroup-layout.ts'

/** The mode of a v2 group that has the policy, as in native/cell/walls/devices.c. */
const limitedMode = 0o700

/**
 * Applies the device policy to environments that a version without it started, and returns the names of
 * their cgroups. Newer environments get it when they start, so this usually looks at one or two directories.
 */
export async function limitRunning({ tools, layout, places, log }: Native): Promise<string[]> {
  if (layout.devices === null) return []
  const { mount, version } = layout.devices
  if (version === 1) return moveRunning(layout, mount, places.key)
  const group = homeGroup(mount, places.key)
  const mode = ifExists(() => statSync(group).mode)
  if (mode === null || (mode & 0o7777) === limitedMode) return []
  await limitHome(tools, log, group)
  return await cgroupNames(layout, places.key)
}

function homeGroup(mount: string, key: string): string {
  return dirname(cgroupAt(mount, key, 'any'))
}

async function limitHome(tools: Tools, log: Log, group: string): Promise<void> {
  try {
    await tools.runCell('limiting devices', ['limit-devices', group])
  } catch (err) {
    // This is only the second barrier; `doctor` reports it, too.
    log.warn({ err, group }, 'the cgroup does not deny older environments access to devices')
  }
}

/** In v1 every hierarchy has its own groups, so processes must be moved into new ones. */
async function moveRunning(layout: CgroupLayout, mount: string, key: string): Promise<string[]> {
  const names = (await cgroupNames(layout, key)).filter(
    (name) => !existsSync(cgroupAt(mount, key, name)),
  )
  for (const name of names) {
    const dir = cgroupAt(mount, key, name)
    await makeCgroup(layout, dir)
    const [first] = cgroupDirs(layout, key, name)
    for (const pid of processesIn(first)) {
      // A process that has ended in the meantime opens nothing.
      await writeFile(join(dir, 'cgroup.procs'), String(pid)).catch(() => {})
    }
  }
  return names
}

/** Why cgroups do not deny the cells of this home access to devices; null if they do. */
export async function whyNoDevicePolicy(
  tools: Tools,
  layout: CgroupLayout,
  key: string,
): Promise<string | null> {
  if (layout.devices === null) return 'neither BPF for cgroup v2 nor the v1 controller'
  if (layout.devices.version === 1) return null
  const group = homeGroup(layout.devices.mount, key)
  return await tools.runCell('limiting devices', ['limit-devices', group]).then(
    () => null,
    (error: Error) => error.message,
  )
}
