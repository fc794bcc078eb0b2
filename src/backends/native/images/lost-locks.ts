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
  const openFiles = oncePerProcess((pid) => openFilesOf(load, pid))
  const mapped = oncePerProcess(
    async (pid) => new Set((await sharedFilesOf(load, pid)).map((id) => paths.get(id))),
  )
  const lost: LostLock[] = []
  for (const { pid, fd, type, start, len } of locks) {
    const path = paths.get((await openFiles(pid)).get(fd) ?? 0)
    if (!(await mapped(pid)).has(path)) continue
    lost.push({ pid, fd, type, start, length: len })
  }
  return lost
}

/** How many locks a process has is for the sandbox to choose. */
function oncePerProcess<T>(find: (pid: number) => Promise<T>): (pid: number) => Promise<T> {
  const found = new Map<number, Promise<T>>()
  return (pid) => {
    const known = found.get(pid) ?? find(pid)
    found.set(pid, known)
    return known
  }
}

/** What file each descriptor is of. */
async function openFilesOf(load: Load, pid: number): Promise<Map<number, number>> {
  const [ids] = await load(`ids-${pid}.img`)
  const open = ids ? await load(`fdinfo-${read(taskKobjIdsEntry, ids).filesId}.img`) : []
  return new Map(open.map((entry) => read(fdinfoEntry, entry)).map(({ fd, id }) => [fd, id]))
}

async function sharedFilesOf(load: Load, pid: number): Promise<number[]> {
  const [memory] = await load(`mm-${pid}.img`)
  if (!memory) return []
  return read(mmEntry, memory)
    .vmas.map((vma) => read(vmaEntry, vma))
    .filter(({ status }) => (status & SHARED_FILE) !== 0)
    .map(({ shmid }) => shmid)
}
