// Lives and snapshots note which shared directories they need, so that those of earlier versions can go.
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { namesIn } from '../files/names-in.ts'
import { removeTree } from '../files/remove-tree.ts'
import type { Tools } from '../tools.ts'

const fileName = 'uses.json'
const usesSchema = z.array(z.string())

/** Notes in the directory of a life or a snapshot what it needs; these are paths at or below shared ones. */
export async function noteUses(holder: string, paths: readonly string[]): Promise<void> {
  await writeFile(join(holder, fileName), JSON.stringify(paths), { flush: true, mode: 0o600 })
}

/**
 * Removes the shared directories that no holder needs. Nobody may be about to note a new use. If a holder
 * has noted nothing, as one of an earlier version, all of them stay.
 */
export async function sweepShared(
  tools: Tools,
  shared: string,
  holders: readonly string[],
): Promise<void> {
  const names = namesIn(shared)
  if (names.length === 0) return
  const uses = await Promise.all(holders.map(readUses))
  if (uses.some((each) => each === null)) return
  const used = new Set(uses.flatMap((each) => each ?? []).map((path) => nameBelow(shared, path)))
  for (const name of names) {
    if (!used.has(name) && !isBeingMade(name)) await removeTree(tools, join(shared, name))
  }
}

async function readUses(holder: string): Promise<readonly string[] | null> {
  try {
    return usesSchema.parse(JSON.parse(await readFile(join(holder, fileName), 'utf8')))
  } catch {
    // A holder that has just gone needs nothing; of any other, we do not know.
    return existsSync(holder) ? null : []
  }
}

function nameBelow(shared: string, path: string): string {
  return path.startsWith(`${shared}/`) ? (path.slice(shared.length + 1).split('/')[0] ?? '') : ''
}

/** A draft has the pid of its maker in its name. */
function isBeingMade(name: string): boolean {
  const [, pid] = /\.(\d+)-\w+\.new$/.exec(name) ?? []
  return pid !== undefined && existsSync(`/proc/${pid}`)
}
