import type { DumpImages } from './dump-images.ts'
import { fileLockEntry } from './format/criu-messages.ts'
import { read } from './format/schema.ts'
import { heldFiles } from './held-files.ts'
import { isSharedFile } from './memory/areas.ts'
import { regularFiles } from './regular-files.ts'

/** An fcntl lock as its process asked for it. */
export interface LostLock {
  /** inside */
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
 * The fcntl locks that CRIU restores and then loses. After it has taken the locks, it opens the file of
 * every shared mapping, and closes it once it is mapped. On that close, the kernel drops all locks that
 * the process has on that file. SQLite always holds such locks if it uses a write-ahead log.
 */
export function lostLocksOf(images: DumpImages): LostLock[] {
  if (!images.has('filelocks.img')) return []
  const locks = images
    .image('filelocks.img')
    .entries.map((entry) => read(fileLockEntry, entry))
    .filter(({ flag }) => flag === FCNTL)
  if (locks.length === 0) return []
  const paths = new Map(regularFiles(images.files).map(({ id, name }) => [id, name]))
  return [...Map.groupBy(locks, ({ pid }) => pid)].flatMap(([pid, ofProcess]) => {
    const { open, mapped } = heldFiles(images, pid)
    const opened = new Map(open.map(({ id, fd }) => [fd, paths.get(id)]))
    const shared = new Set(mapped.filter(isSharedFile).map(({ shmid }) => paths.get(shmid)))
    const lost = ofProcess.filter(({ fd }) => shared.has(opened.get(fd)))
    return lost.map(({ fd, type, start, len }) => ({ pid, fd, type, start, length: len }))
  })
}
