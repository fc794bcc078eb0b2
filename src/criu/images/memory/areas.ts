import { mmEntry, vmaEntry } from '../format/criu-messages.ts'
import { decodeImage, encodeImage, type ImageFile } from '../format/image-file.ts'
import { change, type Message, make, read } from '../format/schema.ts'
import { unknownFormat } from '../format/unknown-format.ts'
import { type Addresses, pageSize } from './pages.ts'

/** A part of a process's address space, mapped in one way: a VMA. */
export interface Area extends Message<typeof vmaEntry> {
  /** as it is in the image */
  readonly entry: Uint8Array
}

/** How CRIU tells areas apart, in `status`. */
const status = { regular: 1, heap: 32, privateFile: 64, sharedFile: 128, privateAnonymous: 512 }

const PROT_READ = 1
const PROT_WRITE = 2
const MAP_PRIVATE = 0x2
const MAP_ANONYMOUS = 0x20
const MAP_GROWSDOWN = 0x100
const MAP_LOCKED = 0x2000
const MAP_NORESERVE = 0x4000
const MADV_DONTFORK = 10

/**
 * Advice that a file mapping can have too, with the same effect: random, sequential, not for children, (no)
 * huge pages, not in core dumps. CRIU gives it again. Others, such as wipe on fork, only work on anonymous
 * memory, or we are not sure.
 */
const harmlessAdvice = [1, 2, MADV_DONTFORK, 14, 15, 16].reduce(
  (bits, advice) => bits + 2 ** advice,
  0,
)

export interface Memory {
  readonly image: ImageFile
  readonly areas: readonly Area[]
  /** what the kernel lets grow with brk; empty if unknown */
  readonly heap: Addresses
  /** the number of the program that the process runs, in files.img */
  readonly executable: number
}

/** A cache: several steps of a snapshot decode the same images, whose bytes never change. */
const decoded = new WeakMap<Buffer, Memory>()

export function decodeAreas(mm: Buffer): Memory {
  const memory = decoded.get(mm) ?? decode(mm)
  decoded.set(mm, memory)
  return memory
}

function decode(mm: Buffer): Memory {
  const image = decodeImage(mm)
  const { vmas, exeFileId, startBrk = 0, brk = startBrk } = read(mmEntry, entryOf(image))
  const areas = vmas.map((entry) => ({ ...read(vmaEntry, entry), entry }))
  return { image, areas, heap: wholePages(startBrk, brk), executable: exeFileId }
}

function wholePages(from: number, to: number): Addresses {
  const start = Math.ceil(from / pageSize) * pageSize
  return { start, end: Math.max(start, Math.ceil(to / pageSize) * pageSize) }
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

/** Areas in order of addresses. In images, guards come last, and lie within other areas. */
export function inOrder(areas: readonly Area[]): Area[] {
  return areas.filter(({ start }, at) => start >= (areas[at - 1]?.end ?? 0))
}

/** A private area that belongs to this process alone, not to its children. */
export function isNotForked({ madv = 0 }: Area): boolean {
  return (madv & (1 << MADV_DONTFORK)) !== 0
}

export function isWritable({ prot }: Area): boolean {
  return (prot & PROT_WRITE) !== 0
}

export function isStack({ flags }: Area): boolean {
  return (flags & MAP_GROWSDOWN) !== 0
}

export function isLocked({ flags }: Area): boolean {
  return (flags & MAP_LOCKED) !== 0
}

/**
 * Whether parts of an area may become private mappings of another file without anyone noticing.
 * Stacks that grow, locked pages and huge pages have other flags. Shared memory and the kernel's own
 * areas have another status. An area without read permission may merely be reserved, so it does not count.
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

/** A part of an area as a private mapping of a file, as CRIU writes one. */
export function mappedPartOf(area: Area, part: MappedPart): Uint8Array {
  const { start, end, fileId, pgoff } = part
  return rewritten(area, {
    start,
    end,
    pgoff,
    shmid: fileId,
    fd: -1,
    fdflags: 0,
    flags: area.flags & ~MAP_ANONYMOUS,
    status: status.regular | status.privateFile,
  })
}

/** The same area, with another number for its file. */
export function renumbered(area: Area, fileId: number): Uint8Array {
  return rewritten(area, { shmid: fileId })
}

/** The same area, for a copy that locks it later. */
export function unlocked(area: Area): Uint8Array {
  return rewritten(area, { flags: area.flags & ~MAP_LOCKED })
}

/** Making a new entry takes half the time, but is only possible if there are no unknown fields to keep. */
function rewritten(area: Area, changes: Partial<Message<typeof vmaEntry>>): Uint8Array {
  if (area.unknownFields > 0) return change(vmaEntry, area.entry, changes)
  return make(vmaEntry, { ...area, ...changes })
}
