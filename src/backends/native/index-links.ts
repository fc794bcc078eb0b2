import { join } from 'node:path'
import {
  link,
  lstat,
  readdir,
  readFile,
  rename,
  rm,
  unlink,
  writeFile,
} from '../../system/quick-fs.ts'
import type { EnvironmentPlaces } from './places.ts'

/**
 * OverlayFS keeps a link of its own to every file that it copied up, in the index of its work
 * directory. To the next mount, over the sealed layer, that link would be one more name of the file:
 * it would show a link count that is wrong, and have its other name searched for at every seal.
 */
type Slot = Pick<EnvironmentPlaces, 'dir' | 'upper' | 'work'>

/** Index entries by the number of their file. */
type LinkRecord = [inode: number, names: string[]][]

const indexOf = ({ work }: Slot) => join(work, 'index')
const recordOf = ({ dir }: Slot) => join(dir, 'index-links.json')

/** Removes these links from a frozen environment; they are written down before the first goes. */
export async function dropIndexLinks(slot: Slot): Promise<void> {
  const links = new Map<number, string[]>()
  for (const entry of await readdir(indexOf(slot), { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory() || entry.isCharacterDevice()) continue
    const { ino, nlink } = await lstat(join(indexOf(slot), entry.name))
    // With no other name, it is a deleted file that somebody has open.
    if (nlink > 1) links.set(ino, [...(links.get(ino) ?? []), entry.name])
  }
  if (links.size === 0) return
  // Whole or not at all: half a record could not be read when everything is to be put back.
  await writeFile(`${recordOf(slot)}.new`, JSON.stringify([...links]))
  await rename(`${recordOf(slot)}.new`, recordOf(slot))
  for (const name of [...links.values()].flat()) await unlink(join(indexOf(slot), name))
}

/** Makes them again in an environment that goes on after all, once its upper is as it was. */
export async function restoreIndexLinks(slot: Slot): Promise<void> {
  const text = await readFile(recordOf(slot), 'utf8').catch(() => null)
  if (text === null) return
  const links = new Map(JSON.parse(text) as LinkRecord)
  await walk(Buffer.from(slot.upper), async (path, inode) => {
    for (const name of links.get(inode) ?? []) await linkOnce(path, join(indexOf(slot), name))
    links.delete(inode)
  })
  await rm(recordOf(slot))
}

/** Every file below, as bytes: names that sandboxed code chose need not be text. */
async function walk(
  dir: Buffer,
  visit: (path: Buffer, inode: number) => Promise<void>,
): Promise<void> {
  for (const name of await readdir(dir, { encoding: 'buffer' })) {
    const path = Buffer.concat([dir, Buffer.from('/'), name])
    const info = await lstat(path)
    if (info.isDirectory()) await walk(path, visit)
    else await visit(path, info.ino)
  }
}

async function linkOnce(path: Buffer, name: string): Promise<void> {
  try {
    await link(path, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
