import { linkSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { filesBelow } from '../../../linux/files/files-below.ts'
import { ifExists } from '../../../linux/files/if-exists.ts'
import { lstat, rename, rm, unlink, writeFile } from '../../../linux/files/quick-fs.ts'
import type { EnvironmentPlaces } from '../places.ts'

/**
 * OverlayFS keeps a hard link to every file that it copied up, in the index of its work directory. To the
 * next mount, over the sealed layer, that link would be another name of the file: the link count would be
 * wrong, and every seal would search for the other name.
 */
type Slot = Pick<EnvironmentPlaces, 'dir' | 'upper' | 'work'>

/** Index entries by inode number. */
const linkRecord = z.array(z.tuple([z.number(), z.array(z.string())]))

const indexOf = ({ work }: Slot) => join(work, 'index')
const recordOf = ({ dir }: Slot) => join(dir, 'index-links.json')

/** Removes these links from a frozen environment, after writing them down. */
export async function dropIndexLinks(slot: Slot): Promise<void> {
  const links = new Map<number, string[]>()
  const entries = ifExists(() => readdirSync(indexOf(slot), { withFileTypes: true })) ?? []
  for (const entry of entries) {
    if (entry.isDirectory() || entry.isCharacterDevice()) continue
    const { ino, nlink } = await lstat(join(indexOf(slot), entry.name))
    // Without another name, it is a deleted file that a process has open.
    if (nlink > 1) links.set(ino, [...(links.get(ino) ?? []), entry.name])
  }
  if (links.size === 0) return
  // Atomically: an incomplete record could not be read when the links have to be restored.
  await writeFile(`${recordOf(slot)}.new`, JSON.stringify([...links]))
  await rename(`${recordOf(slot)}.new`, recordOf(slot))
  for (const name of [...links.values()].flat()) await unlink(join(indexOf(slot), name))
}

/** Restores the links if the environment continues after all, once its files are back in its upper. */
export async function restoreIndexLinks(slot: Slot): Promise<void> {
  const text = ifExists(() => readFileSync(recordOf(slot), 'utf8'))
  if (text === null) return
  const links = new Map(linkRecord.parse(JSON.parse(text)))
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
    // An interrupted restore has made this link already.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
