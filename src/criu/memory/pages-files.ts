import { closeSync, existsSync, linkSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../linux/files/names-in.ts'
import { chmod, link, mkdir, rename, stat, truncate } from '../../linux/files/quick-fs.ts'
import { BackendError } from '../../model/errors.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { ByteRange } from '../images/memory/pages.ts'

/** Where processes find the files that their memory is mapped from, inside. */
export const pagesInside = '/.forkpoint/pages'

/**
 * The size of the hole at the end of a pages file. When a process grows a mapping (as `realloc` of a large
 * block does), it sees what follows in the file, and a page beyond the end would raise SIGBUS. On ext4
 * with 1 KiB blocks a file cannot be larger than 4 TiB.
 */
const tailBytes = 2 ** 40

/** Type and permissions, as in stat(2). Anyone who could read it could read everyone's memory. */
export const pagesMode = 0o100400

/** The name of the pages file that CRIU made as number `number` for a snapshot. */
export function pagesName(snapshot: SnapshotId, number: number): string {
  return `${snapshot}-${number}`
}

/** The name of the one that holds what was copied of a process before the dump. */
export function livePagesName(snapshot: SnapshotId, pid: number): string {
  return `${snapshot}-live-${pid}`
}

export function isOwnPages(name: string, snapshot: SnapshotId): boolean {
  return name.startsWith(`${snapshot}-`)
}

/** Only root may enter it, inside too: it holds memory of processes of all users. */
export async function makePagesDirectory(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
}

/** Turns a dump's pages file into one that memory can be mapped from. It never changes afterwards. */
export async function takePages(from: string, to: string): Promise<void> {
  await rename(from, to)
  await chmod(to, pagesMode & 0o777)
  await extend(to, (await stat(to)).size)
}

/**
 * These bytes of a file, one after the other. They are hundreds of small ranges in the page cache:
 * measured, a synchronous call takes 2 µs, and one through the thread pool 50.
 */
export function readRanges(path: string, ranges: readonly ByteRange[]): Buffer {
  const bytes = Buffer.allocUnsafe(ranges.reduce((sum, { length }) => sum + length, 0))
  const fd = openSync(path, 'r')
  try {
    let at = 0
    for (const { offset, length } of ranges) {
      if (readSync(fd, bytes, at, length, offset) !== length) throw tooShort(path)
      at += length
    }
    return bytes
  } finally {
    closeSync(fd)
  }
}

function tooShort(path: string): BackendError {
  return new BackendError(`${path} has fewer pages than its pagemap says`, {
    remedy: 'try again; if it fails once more, check the disk',
  })
}

export async function extend(path: string, dataBytes: number): Promise<void> {
  for (let tail = tailBytes; ; tail /= 2) {
    try {
      return await truncate(path, dataBytes + tail)
    } catch (error) {
      // A file system, or a limit of this process, may not allow files this large.
      if ((error as NodeJS.ErrnoException).code !== 'EFBIG' || tail < 2 ** 20) throw error
    }
  }
}

/** Links the file, from wherever it is, under the same name: its link count is the number of its users. */
export async function linkPages(from: readonly string[], name: string, to: string): Promise<void> {
  const place = from.find((directory) => existsSync(join(directory, name))) ?? from[0] ?? ''
  try {
    await link(join(place, name), join(to, name))
  } catch (error) {
    throw new BackendError(`memory of the environment is missing: ${name}`, {
      remedy: 'take a snapshot of its files alone, with `--mode filesystem`',
      cause: error,
    })
  }
}

/** Links all pages of a snapshot, for an environment that is made from it. */
export async function linkAllPages(from: string, to: string): Promise<void> {
  // A link takes 10 µs; through the thread pool it would take five times as long.
  for (const name of namesIn(from)) {
    linkSync(join(from, name), join(to, name))
  }
}

export interface ListedFile {
  readonly name: string
  /** bytes it takes on disk, which excludes the hole at its end */
  readonly bytes: number
  readonly size: number
  readonly links: number
}

/** Sorted by name, without directories; none if there is no such directory. */
export function listFiles(dir: string): ListedFile[] {
  if (!existsSync(dir)) return []
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
    .map((name) => {
      const { blocks, size, nlink } = statSync(join(dir, name))
      return { name, bytes: blocks * 512, size, links: nlink }
    })
}
