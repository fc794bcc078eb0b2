import { pathExists } from '../../../linux/path-exists.ts'
import { chmod, chown, lstat, mkdir, readdir, rename, rmdir } from '../../../linux/quick-fs.ts'
import { mustRun } from '../../../linux/run-tool.ts'

/**
 * Makes a layer of what an environment wrote. The upper directory itself cannot become one while
 * its environment has it mounted (EBUSY with index=on), but its entries can be moved out of it: the
 * frozen environment does not notice, and moving them back restores it exactly.
 */
export async function seal(upper: string, layer: string): Promise<void> {
  const { mode, uid, gid } = await lstat(upper)
  await mkdir(layer, { mode: 0o700 })
  await moveEntries(upper, layer)
  await chown(layer, uid, gid)
  await chmod(layer, mode & 0o7777)
}

async function moveEntries(from: string, to: string): Promise<void> {
  // As bytes: names that sandboxed code chose need not be text.
  for (const name of await readdir(from, { encoding: 'buffer' })) {
    await rename(inside(from, name), inside(to, name))
  }
}

function inside(dir: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${dir}/`), name])
}

/** Moves back what `seal` moved, also where it was interrupted; then there is no such layer. */
export async function unseal(layer: string, upper: string): Promise<void> {
  if (!(await pathExists(layer))) return
  await moveEntries(layer, upper)
  await rmdir(layer)
}

/** A copy of what an environment wrote, for a snapshot that leaves it running over its own upper. */
export async function copyUpper(upper: string, layer: string): Promise<void> {
  await mustRun('copying the files of an environment', 'cp', [
    ...['-a', '--reflink=auto', '--sparse=auto', '--no-target-directory', '--', upper, layer],
  ])
}
