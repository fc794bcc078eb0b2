import { readlinkSync } from 'node:fs'
import { readdir, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ifThere } from '../../linux/if-there.ts'
import { removeTree } from '../../linux/remove-tree.ts'

/**
 * A snapshot's images and pages are first in its own directory. Each time that its memory is gathered,
 * all of them are made anew in a directory below it, named for how often that was done; a link says
 * which one counts, so that they are exchanged as a whole or not at all.
 */
const linkName = 'current'

/** Where the images and pages of a snapshot are now. */
export async function currentHome(snapshot: string): Promise<string> {
  return join(snapshot, (await currentName(snapshot)) ?? '')
}

export async function nextHome(snapshot: string): Promise<{ number: number; path: string }> {
  const number = Number((await currentName(snapshot)) ?? 1) + 1
  return { number, path: join(snapshot, String(number)) }
}

export async function makeCurrent(snapshot: string, number: number): Promise<void> {
  const draft = join(snapshot, `${linkName}.new`)
  await removeTree(draft)
  await symlink(String(number), draft)
  await rename(draft, join(snapshot, linkName))
}

/** Removes what was replaced, or was to replace it and was not finished. */
export async function dropStale(snapshot: string): Promise<void> {
  const current = await currentName(snapshot)
  const names = await readdir(snapshot).catch(() => [])
  const isStale = (name: string) =>
    current === null ? /^\d+$|\.new$/.test(name) : name !== linkName && name !== current
  for (const name of names.filter(isStale)) await removeTree(join(snapshot, name))
}

/** Null: nothing was ever gathered. */
async function currentName(snapshot: string): Promise<string | null> {
  return ifThere(() => readlinkSync(join(snapshot, linkName)))
}
