import { join } from 'node:path'
import { readdir, readFile } from '../../linux/quick-fs.ts'
import { fileLockEntry } from './criu-messages.ts'
import { heldFiles } from './held-files.ts'
import { decodeImage } from './image-file.ts'
import { isSharedFile } from './memory/areas.ts'
import { regularFiles } from './regular-files.ts'
import { read } from './schema.ts'

/** An fcntl lock as its process asked for it. */
export interface LostLock {
  /** of the process inside */
  readonly pid: number
  readonly fd: number
  /** F_RDLCK or F_WRLCK */
  readonly type: number
  readonly start: bigint
  /** 0: to the end of the file */
  readonly length: bigint
}

const FCNTL = 1

/**
 * The fcntl locks that CRIU restores and then loses. It opens the file of every shared mapping after
 * the locks are taken, and closes it once mapped; with that the kernel drops what locks the process
 * has of that file. A database with a write-ahead log in SQLite has such locks all the time.
 */
export async function lostLocksOf(images: string): Promise<LostLock[]> {
  const names = await readdir(images)
  if (!names.includes('filelocks.img')) return []
  const locks = decodeImage(await readFile(join(images, 'filelocks.img')))
    .entries.map((entry) => read(fileLockEntry, entry))
    .filter(({ flag }) => flag === FCNTL)
  if (locks.length === 0) return []
  const files = regularFiles(await readFile(join(images, 'files.img')))
  const paths = new Map(files.map(({ id, name }) => [id, name]))
  return [...Map.groupBy(locks, ({ pid }) => pid)].flatMap(([pid, ofProcess]) => {
    const { open, mapped } = heldFiles(images, pid)
    const opened = new Map(open.map(({ id, fd }) => [fd, paths.get(id)]))
    const shared = new Set(mapped.filter(isSharedFile).map(({ shmid }) => paths.get(shmid)))
    const lost = ofProcess.filter(({ fd }) => shared.has(opened.get(fd)))
    return lost.map(({ fd, type, start, len }) => ({ pid, fd, type, start, length: len }))
  })
}
