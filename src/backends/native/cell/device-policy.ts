import { join } from 'node:path'
import { writeFile } from '../../../linux/quick-fs.ts'

/**
 * Which devices processes of a cell may open, whatever nodes they come by: a second wall behind mounts
 * without devices. This is how v1 is told; for v2 native/cell/walls/devices.c has the same list.
 */
const allowed = [
  ...['c 1:3 rw', 'c 1:5 rw', 'c 1:7 rw', 'c 1:8 rw', 'c 1:9 rw'],
  ...['c 5:0 rw', 'c 5:2 rw', 'c 136:* rw'],
]

/** Of a group of the v1 hierarchy of devices; one that has it already gets the same again. */
export async function writeDevicePolicy(dir: string): Promise<void> {
  await writeFile(join(dir, 'devices.deny'), 'a')
  for (const device of allowed) await writeFile(join(dir, 'devices.allow'), device)
}
