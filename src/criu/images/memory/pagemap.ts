import { BinaryReader } from '@bufbuild/protobuf/wire'
import { pagemapEntry, pagemapHead } from '../format/criu-messages.ts'
import { decodeImage, encodeImage, entryRanges, type ImageFile } from '../format/image-file.ts'
import { change, type Message, make, read, readNext } from '../format/schema.ts'
import { unknownFormat } from '../format/unknown-format.ts'
import { type Addresses, type ByteRange, pageSize, type Stretch } from './pages.ts'
import { joinRanges } from './ranges.ts'

/**
 * pagemap-PID.img says which pages of a process the dump has. The pages that are present follow each
 * other in its pages file, in the same order.
 */
export interface Pagemap {
  readonly bytes: Buffer
  /** the image without any run */
  readonly empty: ImageFile
  readonly runs: readonly PageRun[]
}

interface PageRun {
  /** where the entry is in the image */
  readonly entry: { readonly start: number; readonly end: number }
  readonly start: number
  readonly end: number
  /** in the pages file; null if it does not have them */
  readonly offset: number | null
  /** the directory `parent` beside the image has them, see parents.ts */
  readonly inParent: boolean
  /** which field holds the number of pages: CRIU 4.2 has a wider one */
  readonly count: 'nrPages' | 'compatNrPages'
}

const PRESENT = 4
const LAZY = 2
const PARENT = 1

/** The number of the pages file that belongs to a pagemap. */
export function pagesIdOf(pagemap: Buffer): number {
  const [head] = decodeImage(pagemap).entries
  if (!head) throw unknownFormat('pagemap', 'it is empty')
  return read(pagemapHead, head).pagesId
}

/** The same pagemap, with another number for its pages file. */
export function withPagesId(pagemap: Buffer, pagesId: number): Buffer {
  const image = decodeImage(pagemap)
  const [head, ...entries] = image.entries
  if (!head) throw unknownFormat('pagemap', 'it is empty')
  return encodeImage({ ...image, entries: [change(pagemapHead, head, { pagesId }), ...entries] })
}

/** There may be thousands of entries, so it makes as little as possible for each. */
export function decodePagemap(bytes: Buffer): Pagemap {
  const [head, ...entries] = entryRanges(bytes)
  if (!head) throw unknownFormat('pagemap', 'it is empty')
  const reader = new BinaryReader(bytes)
  const runs: PageRun[] = []
  let offset = 0
  let last = 0
  for (const entry of entries) {
    reader.pos = entry.start
    const message = readNext(pagemapEntry, reader, entry.end)
    const place = placeOf(message)
    const isPresent = place === 'here'
    const count = message.nrPages === undefined ? 'compatNrPages' : 'nrPages'
    const start = message.vaddr
    const length = (message[count] ?? 0) * pageSize
    if (start < last || start % pageSize !== 0) {
      throw unknownFormat('pagemap', `pages at ${start.toString(16)} follow ${last.toString(16)}`)
    }
    last = start + length
    const inParent = place === 'parent'
    runs.push({ entry, start, end: last, offset: isPresent ? offset : null, inParent, count })
    if (isPresent) offset += length
  }
  return { bytes, empty: decodeImage(bytes.subarray(0, head.end)), runs }
}

function placeOf(message: Message<typeof pagemapEntry>): 'here' | 'parent' | 'nowhere' {
  const { vaddr, flags = PRESENT, inParent = false, unknownFields } = message
  if (unknownFields > 0) {
    throw unknownFormat('pagemap', `pages at ${vaddr.toString(16)} have unknown fields`)
  }
  if (flags === PARENT && !inParent) return 'parent'
  if (inParent) {
    throw unknownFormat('pagemap', `pages at ${vaddr.toString(16)} are in a parent of old format`)
  }
  if ((flags & ~(PRESENT | LAZY)) !== 0) {
    throw unknownFormat('pagemap', `pages at ${vaddr.toString(16)} have flags ${flags}`)
  }
  return (flags & PRESENT) === 0 ? 'nowhere' : 'here'
}

/** The pages that the dump of an earlier snapshot has, in order. */
export function inheritedIn({ runs }: Pagemap): Addresses[] {
  return runs.filter(({ inParent }) => inParent).map(({ start, end }) => ({ start, end }))
}

/** The pages that this dump or an earlier one has, in order. */
export function dumpedIn({ runs }: Pagemap): Addresses[] {
  return joinRanges(runs.filter(({ offset, inParent }) => offset !== null || inParent))
}

/** A run of pages in a new pagemap. Those that are here follow each other in the pages file. */
export interface NewRun extends Addresses {
  readonly place: 'here' | 'parent'
}

/** The magic words of CRIU for images in general, and for pagemaps. */
const magics = [0x54564319, 0x56084025]

/** A pagemap for a pages file of ours. */
export function newPagemap(pagesId: number, wanted: readonly NewRun[]): Buffer {
  const head = Buffer.from(Uint32Array.from(magics).buffer)
  const empty = { head, entries: [make(pagemapHead, { pagesId })] }
  return withRuns({ empty, runs: [] }, wanted)
}

/** A pagemap with these runs instead, in order. */
export function withRuns(
  { empty, runs }: Pick<Pagemap, 'empty' | 'runs'>,
  wanted: readonly NewRun[],
): Buffer {
  const isOld = runs[0]?.count === 'compatNrPages'
  const entries = wanted.map(({ start, end, place }) => {
    const flags = place === 'here' ? PRESENT : PARENT
    const pages = (end - start) / pageSize
    const counts = isOld ? { compatNrPages: pages } : { compatNrPages: 0, nrPages: pages }
    return make(pagemapEntry, { vaddr: start, flags, ...counts })
  })
  return encodeImage({ ...empty, entries: [...empty.entries, ...entries] })
}

/** The pages that are present, in pieces as long as possible. */
export function stretchesOf({ runs }: Pagemap): Stretch[] {
  const stretches: { start: number; end: number; offset: number }[] = []
  for (const { start, end, offset } of runs) {
    if (offset === null) continue
    const last = stretches.at(-1)
    // Neighbours in memory are neighbours in the file: nothing lies between them.
    if (last?.end === start) last.end = end
    else stretches.push({ start, end, offset })
  }
  return stretches
}

/**
 * A pagemap without the pages that were taken (in order), and the bytes of its pages file that it
 * still needs, in order. CRIU reads the first page without checking that there is one, so the very last
 * page stays even if it was taken.
 */
export function withoutPages(
  pagemap: Pagemap,
  taken: readonly Addresses[],
): { pagemap: Buffer; leftovers: ByteRange[] } {
  const { bytes, empty, runs } = pagemap
  const kept = runs.flatMap(subtracting(taken))
  const end = runs.findLast(({ offset }) => offset !== null)?.end
  if (end !== undefined && kept.every(({ run }) => run.offset === null)) {
    return withoutPages(pagemap, before(taken, end - pageSize))
  }
  const entries = [...empty.entries, ...kept.map((piece) => entryOf(bytes, piece))]
  return { pagemap: encodeImage({ ...empty, entries }), leftovers: rangesOf(kept) }
}

interface Piece extends Addresses {
  readonly run: PageRun
}

/** What is left of each run. Call it with the runs in order. */
function subtracting(taken: readonly Addresses[]): (run: PageRun) => Piece[] {
  let next = 0
  return (run) => {
    if (run.offset === null) return [{ run, start: run.start, end: run.end }]
    const pieces: Piece[] = []
    let at = run.start
    for (let range = taken[next]; range && range.start < run.end; range = taken[next]) {
      if (range.start > at) pieces.push({ run, start: at, end: range.start })
      at = Math.max(at, Math.min(range.end, run.end))
      if (range.end > run.end) break
      next += 1
    }
    if (at < run.end) pieces.push({ run, start: at, end: run.end })
    return pieces
  }
}

function before(taken: readonly Addresses[], end: number): Addresses[] {
  return taken
    .filter(({ start }) => start < end)
    .map((range) => ({ start: range.start, end: Math.min(range.end, end) }))
}

function entryOf(bytes: Buffer, { run, start, end }: Piece): Uint8Array {
  const entry = bytes.subarray(run.entry.start, run.entry.end)
  if (start === run.start && end === run.end) return entry
  return change(pagemapEntry, entry, { vaddr: start, [run.count]: (end - start) / pageSize })
}

function rangesOf(pieces: readonly Piece[]): ByteRange[] {
  const ranges: { offset: number; length: number }[] = []
  for (const { run, start, end } of pieces) {
    if (run.offset === null) continue
    const offset = run.offset + start - run.start
    const last = ranges.at(-1)
    if (last && last.offset + last.length === offset) last.length += end - start
    else ranges.push({ offset, length: end - start })
  }
  return ranges
}
