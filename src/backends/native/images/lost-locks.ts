import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeImage } from './image-file.ts'
import { decodeMessage, type Message, numberOf } from './message.ts'

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

/** Field numbers of CRIU's messages that matter here. */
const lock = { kind: 1, type: 2, pid: 3, fd: 4, start: 5, length: 6 }
const file = { id: 2, regular: 3 }
const regular = { name: 6 }
const descriptor = { fileId: 1, fd: 4 }
const ids = { files: 2 }
const AREAS = 14
const area = { fileId: 4, status: 7 }

const FCNTL = 1
const SHARED_FILE = 128

type Read = (name: string) => Promise<Message[]>

/**
 * The fcntl locks that CRIU restores and then loses. It opens the file of every shared mapping after
 * the locks are taken, and closes it once mapped; with that the kernel drops what locks the process
 * has of that file. A database with a write-ahead log in SQLite has such locks all the time.
 */
export async function lostLocksOf(images: string): Promise<LostLock[]> {
  const names = await readdir(images)
  if (!names.includes('filelocks.img')) return []
  const read: Read = async (name) =>
    names.includes(name)
      ? decodeImage(await readFile(join(images, name))).entries.map(decodeMessage)
      : []
  const locks = (await read('filelocks.img')).filter((one) => numberOf(one, lock.kind) === FCNTL)
  if (locks.length === 0) return []
  const paths = pathsOf(await read('files.img'))
  const lost: LostLock[] = []
  for (const one of locks) {
    const [pid = 0, fd = 0] = [numberOf(one, lock.pid), numberOf(one, lock.fd)]
    const path = paths.get(await fileOf(read, pid, fd))
    const mapped = await sharedFilesOf(read, pid)
    if (!mapped.some((id) => paths.get(id) === path)) continue
    const type = numberOf(one, lock.type) ?? 0
    lost.push({ pid, fd, type, start: bigOf(one, lock.start), length: bigOf(one, lock.length) })
  }
  return lost
}

function pathsOf(files: readonly Message[]): Map<number, string> {
  return new Map(
    files.flatMap((entry) => {
      const inner = entry.find(({ number }) => number === file.regular)?.value
      if (!Buffer.isBuffer(inner)) return []
      const name = decodeMessage(inner).find(({ number }) => number === regular.name)?.value
      return [[numberOf(entry, file.id) ?? 0, String(name)] as const]
    }),
  )
}

async function fileOf(read: Read, pid: number, fd: number): Promise<number> {
  const [kernelIds = []] = await read(`ids-${pid}.img`)
  const open = await read(`fdinfo-${numberOf(kernelIds, ids.files)}.img`)
  const entry = open.find((one) => numberOf(one, descriptor.fd) === fd) ?? []
  return numberOf(entry, descriptor.fileId) ?? 0
}

async function sharedFilesOf(read: Read, pid: number): Promise<number[]> {
  const [memory = []] = await read(`mm-${pid}.img`)
  return memory.flatMap(({ number, value }) => {
    if (number !== AREAS || !Buffer.isBuffer(value)) return []
    const one = decodeMessage(value)
    const isShared = ((numberOf(one, area.status) ?? 0) & SHARED_FILE) !== 0
    return isShared ? [numberOf(one, area.fileId) ?? 0] : []
  })
}

/** Signed, as protobuf's int64. */
function bigOf(message: Message, number: number): bigint {
  const value = message.find((field) => field.number === number)?.value
  return typeof value === 'bigint' ? BigInt.asIntN(64, value) : 0n
}
