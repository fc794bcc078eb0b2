import { rmdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { EnvironmentId } from '../../model/ids.ts'
import { namesIn } from '../files/names-in.ts'
import type { Tools } from '../tools.ts'
import { livesIn } from './life-directories.ts'
import { sweepShared } from './shared-uses.ts'

/** A backend that keeps everything below one directory of the home, with directories that lives share. */
export interface Sharing {
  readonly places: {
    readonly top: string
    readonly envs: string
    readonly snapshots: string
    readonly shared: string
    life(id: EnvironmentId, slot: number): { readonly dir: string }
  }
  readonly tools: Tools
  readonly exclusively: <T>(resource: string, what: string, work: () => Promise<T>) => Promise<T>
}

/** Runs `work` while no shared directory is removed, and no other new life begins to use one. */
export function withShared<T>(
  { places, exclusively }: Sharing,
  doing: string,
  work: () => Promise<T>,
): Promise<T> {
  return exclusively(`${basename(places.top)}:shared`, doing, work)
}

/** Removes copies of the agent and the like that no life and no snapshot uses anymore. */
export async function freeShared(sharing: Sharing): Promise<void> {
  const { places, tools } = sharing
  if (namesIn(places.top).length === 0) return
  await withShared(sharing, 'removing what nobody uses', async () => {
    const lives = livesIn(places.envs).map(({ id, slot }) => places.life(id, slot).dir)
    const snapshots = namesIn(places.snapshots).map((name) => join(places.snapshots, name))
    const holders = [...lives, ...snapshots]
    await sweepShared(tools, places.shared, holders)
    if (holders.length === 0) removeEmpty(places.top)
  })
}

/** Without a life or a snapshot, only a new life needs these directories, and makes them itself. */
function removeEmpty(top: string): void {
  for (const path of [...namesIn(top).map((name) => join(top, name)), top]) {
    try {
      rmdirSync(path)
    } catch {
      // Something is in it, and then it must stay; or it is gone already.
    }
  }
}
