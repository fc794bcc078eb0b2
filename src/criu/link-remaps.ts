import { runCell } from '../linux/run-cell.ts'
import { linkRemapsOf } from './images/link-remaps.ts'

/**
 * CRIU takes the names it gave away again at the end of a dump that leaves the processes running,
 * but the images need them: made once more, they are sealed with the rest of the files. `pid` is the
 * frozen environment's agent.
 */
export async function nameLinkRemaps(images: string, pid: number): Promise<void> {
  const remaps = await linkRemapsOf(images)
  if (remaps.length === 0) return
  const input = terminated(remaps.flatMap(({ holder, name }) => [holder, name]))
  await runCell('naming files that are open without a name', ['relink', String(pid)], { input })
}

/** Takes them away from an environment that goes on after all. */
export async function unnameLinkRemaps(images: string, pid: number): Promise<void> {
  const remaps = await linkRemapsOf(images).catch(() => [])
  if (remaps.length === 0) return
  const input = terminated(remaps.map(({ name }) => name))
  await runCell('removing the names of open files', ['unlink', String(pid)], { input })
}

/** Names of one character a byte, as `cell` reads them. */
export function terminated(names: readonly string[]): Buffer {
  return Buffer.from(names.map((name) => `${name}\0`).join(''), 'latin1')
}
