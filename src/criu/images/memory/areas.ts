import { mmEntry, vmaEntry } from '../criu-messages.ts'
import { decodeImage, encodeImage, type ImageFile } from '../image-file.ts'
import { change, type Message, make, read } from '../schema.ts'
import { unknownFormat } from '../unknown-format.ts'

/** A part of a process's address space, mapped in one way: a VMA. */
export interface Area extends Message<typeof vmaEntry> {
  /** as it is in the image */
  readonly entry: Uint8Array
}

/** How CRIU tells areas apart, in `status`. */
const status = { regular: 1, heap: 32, privateFile: 64, sharedFile: 128, privateAnonymous: 512 }

const PROT_READ = 1
const MAP_PRIVATE = 0x2
const MAP_ANONYMOUS = 0x20
const MAP_NORESERVE = 0x4000

/**
 * Advice that a file mapping can have too, to the same effect: random, sequential, (no) huge pages,
 * not in core dumps. Others, such as wipe on fork, are for anonymous memory, or we are not sure.
 */
const harmlessAdvice = [1, 2, 14, 15, 16].reduce((bits, advice) => bits + 2 ** advice, 0)

interface Memory {
  readonly image: ImageFile
  readonly areas: readonly Area[]
  /** the number of the program that the process runs, in files.img */
  readonly executable: number
}

/** Several steps of a snapshot look at the same images, whose bytes never change. */
const decoded = new WeakMap<Buffer, Memory>()

export function decodeAreas(mm: Buffer): Memory {
  const memory = decoded.get(mm) ?? decode(mm)
  decoded.set(mm, memory)
  return memory
}

function decode(mm: Buffer): Memory {
  const image = decodeImage(mm)
  const { vmas, exeFileId } = read(mmEntry, entryOf(image))
  const areas = vmas.map((entry) => ({ ...read(vmaEntry, entry), entry }))
  return { image, areas, executable: exeFileId }
}

/** mm-PID.img with other areas. */
export function withAreas(image: ImageFile, vmas: readonly Uint8Array[]): Buffer {
  return encodeImage({ ...image, entries: [change(mmEntry, entryOf(image), { vmas })] })
}

function entryOf({ entries }: ImageFile): Uint8Array {
  const [entry, ...others] = entries
  if (!entry || others.length > 0) throw unknownFormat('mm', `it has ${entries.length} entries`)
  return entry
}

/** The files that a process maps or runs, by their numbers in files.img. */
export function usedFiles(mm: Buffer): Set<number> {
  const { areas, executable } = decodeAreas(mm)
  return new Set([executable, ...areas.filter(isFile).map(({ shmid }) => shmid)])
}

export function isFile(area: Area): boolean {
  return (area.status & (status.privateFile | status.sharedFile)) !== 0
}

export function isSharedFile(area: Area): boolean {
  return (area.status & status.sharedFile) !== 0
}

export function isPrivateFile(area: Area): boolean {
  return area.status === (status.regular | status.privateFile)
}

export function isPrivateAnonymous(area: Area): boolean {
  return (area.status & ~status.heap) === (status.regular | status.privateAnonymous)
}

/**
 * Whether parts of an area may become private mappings of another file without anyone noticing.
 * Stacks that grow, locked and huge pages have flags that are not in the list, shared memory and the
 * kernel's own areas another status. What cannot be read cannot be told from an area set aside.
 */
export function isShareable(area: Area): boolean {
  const { flags, prot, madv = 0, unknownFields } = area
  const backing = isPrivateAnonymous(area) ? MAP_ANONYMOUS : 0
  const isPlain = (flags & ~MAP_NORESERVE) === (MAP_PRIVATE | backing)
  return (
    (isPrivateAnonymous(area) || isPrivateFile(area)) &&
    isPlain &&
    (prot & PROT_READ) !== 0 &&
    (madv & harmlessAdvice) === madv &&
    unknownFields === 0
  )
}

/** A part of an area as it is. */
export function partOf(area: Area, start: number, end: number): Uint8Array {
  if (start === area.start && end === area.end) return area.entry
  const pgoff = isPrivateFile(area) ? area.pgoff + start - area.start : area.pgoff
  return rewritten(area, { start, end, pgoff })
}

interface MappedPart {
  readonly start: number
  readonly end: number
  readonly fileId: number
  readonly pgoff: number
}

/** A part of an area as a private mapping of a file, the way CRIU has one. */
export function mappedPartOf(area: Area, part: MappedPart): Uint8Array {
  const { start, end, fileId, pgoff } = part
  return rewritten(area, {
    ...{ start, end, pgoff, shmid: fileId, fd: -1, fdflags: 0 },
    flags: area.flags & ~MAP_ANONYMOUS,
    status: status.regular | status.privateFile,
  })
}

/** An area of the same file under another number. */
export function renumbered(area: Area, fileId: number): Uint8Array {
  return rewritten(area, { shmid: fileId })
}

/** Made anew in half the time, where nothing unknown has to be kept. */
function rewritten(area: Area, changes: Partial<Message<typeof vmaEntry>>): Uint8Array {
  if (area.unknownFields > 0) return change(vmaEntry, area.entry, changes)
  return make(vmaEntry, { ...area, ...changes })
}
