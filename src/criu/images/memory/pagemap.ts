import { BinaryReader } from '@bufbuild/protobuf/wire'
import { pagemapEntry, pagemapHead } from '../criu-messages.ts'
import { decodeImage, encodeImage, entryRanges, type ImageFile } from '../image-file.ts'
import { change, type Message, read, readNext } from '../schema.ts'
import { unknownFormat } from '../unknown-format.ts'
import { type ByteRange, pageSize, type Stretch } from './pages.ts'

/**
 * pagemap-PID.img says which pages of a process the dump has. Those that are present lie in its pages
 * file one after the other, in the same order.
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
  /** in the pages file; null if it has none of them */
  readonly offset: number | null
  /** which of the fields has the number of pages: CRIU 4.2 has a wider one */
  readonly count: 'nrPages' | 'compatNrPages'
}

const PRESENT = 4
const LAZY = 2

/** The number of the pages file that a pagemap is about. */
export function pagesIdOf(pagemap: Buffer): number {
  const [head] = decodeImage(pagemap).entries
  if (!head) throw unknownFormat('pagemap', 'it is empty')
  return read(pagemapHead, head).pagesId
}

/** There may be thousands of entries: nothing is made for each that is not needed. */
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
    const isPresent = isPresentIn(message)
    const count = message.nrPages === undefined ? 'compatNrPages' : 'nrPages'
    const start = message.vaddr
    const length = (message[count] ?? 0) * pageSize
    if (start < last || start % pageSize !== 0) {
      throw unknownFormat('pagemap', `pages at ${start.toString(16)} follow ${last.toString(16)}`)
    }
    last = start + length
    runs.push({ entry, start, end: last, offset: isPresent ? offset : null, count })
    if (isPresent) offset += length
  }
  return { bytes, empty: decodeImage(bytes.subarray(0, head.end)), runs }
}

function isPresentIn(message: Message<typeof pagemapEntry>): boolean {
  const { vaddr, flags = PRESENT, inParent = false, unknownFields } = message
  if (unknownFields > 0) {
    throw unknownFormat('pagemap', `pages at ${vaddr.toString(16)} have fields unknown here`)
  }
  if (inParent || (flags & ~(PRESENT | LAZY)) !== 0) {
    const met = `have flags ${flags}, or are in a parent's dump`
    throw unknownFormat('pagemap', `pages at ${vaddr.toString(16)} ${met}`)
  }
  return (flags & PRESENT) !== 0
}

/** What is present, in pieces as long as they get. */
export function stretchesOf({ runs }: Pagemap): Stretch[] {
  const stretches: { start: number; end: number; offset: number }[] = []
  for (const { start, end, offset } of runs) {
    if (offset === null) continue
    const last = stretches.at(-1)
    // What follows in memory follows in the file: nothing else lies between.
    if (last?.end === start) last.end = end
    else stretches.push({ start, end, offset })
  }
  return stretches
}

/**
 * A pagemap without the pages that were taken (in order), and the bytes of its pages file that it
 * still needs, in order. CRIU looks at the first page without asking if there is one, so the last
 * of all stays even if it was taken.
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

type Addresses = Pick<Stretch, 'start' | 'end'>

interface Piece extends Addresses {
  readonly run: PageRun
}

/** What is left of each run; to be called with them in order. */
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
  const pages = { [run.count]: (end - start) / pageSize }
  return change(pagemapEntry, entry, { vaddr: start, ...pages })
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
