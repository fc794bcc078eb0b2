import { pathExists } from '../../../linux/files/path-exists.ts'
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  rename,
  rmdir,
} from '../../../linux/files/quick-fs.ts'
import type { Tools } from '../../../linux/tools.ts'

/**
 * Makes a layer of what an environment wrote. The upper directory itself cannot become a layer while it
 * is mounted (EBUSY with index=on), but its entries can be moved: the frozen environment does not notice,
 * and moving them back restores it exactly.
 */
export async function seal(upper: string, layer: string): Promise<void> {
  const { mode, uid, gid } = await lstat(upper)
  await mkdir(layer, { mode: 0o700 })
  await moveEntries(upper, layer)
  await chown(layer, uid, gid)
  await chmod(layer, mode & 0o7777)
}

async function moveEntries(from: string, to: string): Promise<void> {
  // As bytes: names chosen by sandboxed code need not be text.
  for (const name of await readdir(from, { encoding: 'buffer' })) {
    await rename(inside(from, name), inside(to, name))
  }
}

function inside(dir: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${dir}/`), name])
}

/** Moves back what `seal` moved, even if it was interrupted, and removes the layer. */
export async function unseal(layer: string, upper: string): Promise<void> {
  if (!(await pathExists(layer))) return
  await moveEntries(layer, upper)
  await rmdir(layer)
}

/** Copies what an environment wrote, for a snapshot after which it continues over its own upper. */
export async function copyUpper(tools: Tools, upper: string, layer: string): Promise<void> {
  const options = ['-a', '--reflink=auto', '--sparse=auto', '--no-target-directory']
  await tools.mustRun('copying the files of an environment', 'cp', [...options, '--', upper, layer])
}
