import { linkSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow } from '../../../linux/files-below.ts'
import { ifThere } from '../../../linux/if-there.ts'
import { lstat, rename, rm, unlink, writeFile } from '../../../linux/quick-fs.ts'
import type { EnvironmentPlaces } from '../places.ts'

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
  const entries = ifThere(() => readdirSync(indexOf(slot), { withFileTypes: true })) ?? []
  for (const entry of entries) {
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
  const text = ifThere(() => readFileSync(recordOf(slot), 'utf8'))
  if (text === null) return
  const links = new Map(JSON.parse(text) as LinkRecord)
  for (const { path, inode } of filesBelow(slot.upper)) {
    for (const name of links.get(inode) ?? []) linkOnce(path, join(indexOf(slot), name))
    links.delete(inode)
    if (links.size === 0) break
  }
  await rm(recordOf(slot))
}

function linkOnce(path: Buffer, name: string): void {
  try {
    linkSync(path, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
