import { readlinkSync } from 'node:fs'
import { rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ifExists } from '../../linux/files/if-exists.ts'
import { namesIn } from '../../linux/files/names-in.ts'
import { removeTree } from '../../linux/files/remove-tree.ts'
import type { Tools } from '../../linux/tools.ts'

/**
 * A snapshot's images and pages start in its own directory. Each time that its memory is made its own,
 * all of them are rewritten in a numbered directory below it. A link says which directory is current, so
 * they are replaced all at once or not at all.
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

export async function makeCurrent(tools: Tools, snapshot: string, number: number): Promise<void> {
  const draft = join(snapshot, `${linkName}.new`)
  await removeTree(tools, draft)
  await symlink(String(number), draft)
  await rename(draft, join(snapshot, linkName))
}

/** Removes what was replaced, and replacements that were never completed. */
export async function dropStale(tools: Tools, snapshot: string): Promise<void> {
  const current = await currentName(snapshot)
  const isStale = (name: string) =>
    current === null ? /^\d+$|\.new$/.test(name) : name !== linkName && name !== current
  for (const name of namesIn(snapshot).filter(isStale))
    await removeTree(tools, join(snapshot, name))
}

/** Null: its memory was never made its own. */
async function currentName(snapshot: string): Promise<string | null> {
  return ifExists(() => readlinkSync(join(snapshot, linkName)))
}
