import { join } from 'node:path'
import { writeFile } from '../../../linux/files/quick-fs.ts'

/**
 * The devices that processes of a cell may open, whatever device nodes they get: a second barrier, in
 * addition to mounts without devices. This list is for v1; native/cell/walls/devices.c has the same for v2.
 */
const allowed = [
  'c 1:3 rw', // null
  'c 1:5 rw', // zero
  'c 1:7 rw', // full
  'c 1:8 rw', // random
  'c 1:9 rw', // urandom
  'c 5:0 rw', // tty
  'c 5:2 rw', // ptmx
  'c 136:* rw', // pts/*
]

/** Sets the policy of a group in the v1 devices hierarchy; may be repeated. */
export async function writeDevicePolicy(dir: string): Promise<void> {
  await writeFile(join(dir, 'devices.deny'), 'a')
  for (const device of allowed) await writeFile(join(dir, 'devices.allow'), device)
}
