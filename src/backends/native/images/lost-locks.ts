import { join } from 'node:path'
import { readdir, readFile } from '../../../system/quick-fs.ts'
import { fdinfoEntry, fileLockEntry, mmEntry, taskKobjIdsEntry, vmaEntry } from './criu-messages.ts'
import { decodeImage } from './image-file.ts'
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
const SHARED_FILE = 128

type Load = (name: string) => Promise<readonly Uint8Array[]>

/**
 * The fcntl locks that CRIU restores and then loses. It opens the file of every shared mapping after
 * the locks are taken, and closes it once mapped; with that the kernel drops what locks the process
 * has of that file. A database with a write-ahead log in SQLite has such locks all the time.
 */
export async function lostLocksOf(images: string): Promise<LostLock[]> {
  const names = await readdir(images)
  if (!names.includes('filelocks.img')) return []
  const load: Load = async (name) =>
    names.includes(name) ? decodeImage(await readFile(join(images, name))).entries : []
  const locks = (await load('filelocks.img'))
    .map((entry) => read(fileLockEntry, entry))
    .filter(({ flag }) => flag === FCNTL)
  if (locks.length === 0) return []
  const files = regularFiles(await readFile(join(images, 'files.img')))
  const paths = new Map(files.map(({ id, name }) => [id, name]))
  const lost: LostLock[] = []
  for (const { pid, fd, type, start, len } of locks) {
    const path = paths.get(await fileOf(load, pid, fd))
    const mapped = await sharedFilesOf(load, pid)
    if (!mapped.some((id) => paths.get(id) === path)) continue
    lost.push({ pid, fd, type, start, length: len })
  }
  return lost
}

async function fileOf(load: Load, pid: number, fd: number): Promise<number> {
  const [ids] = await load(`ids-${pid}.img`)
  const open = ids ? await load(`fdinfo-${read(taskKobjIdsEntry, ids).filesId}.img`) : []
  return open.map((entry) => read(fdinfoEntry, entry)).find((one) => one.fd === fd)?.id ?? 0
}

async function sharedFilesOf(load: Load, pid: number): Promise<number[]> {
  const [memory] = await load(`mm-${pid}.img`)
  if (!memory) return []
  return read(mmEntry, memory)
    .vmas.map((vma) => read(vmaEntry, vma))
    .filter(({ status }) => (status & SHARED_FILE) !== 0)
    .map(({ shmid }) => shmid)
}
