import { existsSync, linkSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { chmod, link, mkdir, readdir, rename, stat, truncate } from '../../linux/quick-fs.ts'
import { BackendError } from '../../model/errors.ts'
import type { SnapshotId } from '../../model/ids.ts'

/** Where processes find the files that their memory is mapped from. */
export const pagesInside = '/.forkpoint/pages'

/**
 * How far a pages file goes on, empty, after its data. A mapping that its process lets grow (`realloc`
 * of a large block does) shows what follows in the file, and a page beyond its end is SIGBUS. No file
 * of ext4 with blocks of 1 KiB may be larger than 4 TiB.
 */
const tailBytes = 2 ** 40

/** As a file's status has it. Whoever could read it would read memory of processes of anybody. */
export const pagesMode = 0o100400

/** Of the `number`th pages file that CRIU made for a snapshot. */
export function pagesName(snapshot: SnapshotId, number: number): string {
  return `${snapshot}-${number}`
}

export function isOwnPages(name: string, snapshot: SnapshotId): boolean {
  return name.startsWith(`${snapshot}-`)
}

/** Only root passes, inside as well: what is in there was the memory of processes of anybody. */
export async function makePagesDirectory(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
}

/** Makes a pages file of a dump one that memory can be mapped from. From then on it never changes. */
export async function takePages(from: string, to: string): Promise<void> {
  await rename(from, to)
  await chmod(to, pagesMode & 0o777)
  await extend(to, (await stat(to)).size)
}

export async function extend(path: string, dataBytes: number): Promise<void> {
  for (let tail = tailBytes; ; tail /= 2) {
    try {
      return await truncate(path, dataBytes + tail)
    } catch (error) {
      // A file system or a limit of this process may not allow files as large.
      if ((error as NodeJS.ErrnoException).code !== 'EFBIG' || tail < 2 ** 20) throw error
    }
  }
}

/** Another name for the same file: the number of its names is the number of its users. */
export async function linkPages(from: string, name: string, to: string): Promise<void> {
  try {
    await link(join(from, name), join(to, name))
  } catch (error) {
    throw new BackendError(`memory of the environment is missing: ${name}`, {
      remedy: 'its files can still be taken, with `--mode filesystem`',
      cause: error,
    })
  }
}

/** All that a snapshot has, for an environment that is made from it. */
export async function linkAllPages(from: string, to: string): Promise<void> {
  // A link takes 10 µs, and the way through the thread pool five times as long.
  for (const name of await readdir(from).catch(() => [])) {
    linkSync(join(from, name), join(to, name))
  }
}

export interface ListedFile {
  readonly name: string
  /** taken on disk; that is, without an empty tail */
  readonly bytes: number
  readonly size: number
  readonly links: number
}

/** Sorted by name; none if there is no such directory. */
export function listFiles(dir: string): ListedFile[] {
  if (!existsSync(dir)) return []
  return readdirSync(dir)
    .toSorted()
    .map((name) => {
      const { blocks, size, nlink } = statSync(join(dir, name))
      return { name, bytes: blocks * 512, size, links: nlink }
    })
}
