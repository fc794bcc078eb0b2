import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { rename } from '../../linux/files/quick-fs.ts'
import type { DumpImages } from '../images/dump-images.ts'
import { decodeAreas, inOrder, isPrivateFile } from '../images/memory/areas.ts'
import { type Placed, placesIn } from '../images/memory/levels.ts'
import { olderPart } from '../images/memory/older.ts'
import { decodePagemap, pagesIdOf, stretchesOf, withoutPages } from '../images/memory/pagemap.ts'
import { type Addresses, type ByteRange, pageSize, type Stretch } from '../images/memory/pages.ts'
import { intersect, joinRanges, lengthOf, subtract } from '../images/memory/ranges.ts'
import { copyRange } from '../memory/copy-pages.ts'
import { dumpedMemory, pagesImage, withMemories } from '../memory/dumped-processes.ts'
import { imageMode } from '../write-images.ts'
import type { Previous } from './previous.ts'

/** Less is not worth another file, and comparing more takes too long. */
const leastBytes = 64 * 1024
const mostBytes = 64 * 1024 ** 2
const pieceBytes = 1024 ** 2

/** A dump, and the pages that it has left out because the snapshot before has them. */
export interface LeanDump {
  readonly images: DumpImages
  /** by the pid inside */
  readonly clean: ReadonlyMap<number, readonly Addresses[]>
}

/**
 * Leaves out more. Private mappings of files are not tracked, so a dump has all of their pages that were ever
 * written. Those that the snapshot before has with the same content need not be in this one, too.
 */
export async function leaveOutUnchanged(dump: LeanDump, previous: Previous): Promise<LeanDump> {
  const clean = new Map(dump.clean)
  let { images } = dump
  for (const [pid, left] of dump.clean) {
    const equal = await unchangedPages(images, pid, previous)
    if (lengthOf(equal) < leastBytes) continue
    const { mm, pagemap: bytes } = dumpedMemory(images, pid)
    const { pagemap, leftovers } = withoutPages(decodePagemap(bytes), equal)
    // One page always stays.
    const out = subtract(equal, stretchesOf(decodePagemap(pagemap)))
    await keepOnly(join(images.directory, pagesImage(pagesIdOf(bytes))), leftovers)
    images = withMemories(images, [[pid, { mm, pagemap }]])
    clean.set(pid, joinRanges([...left, ...out]))
  }
  return { images, clean }
}

/** In order. */
async function unchangedPages(
  images: DumpImages,
  pid: number,
  previous: Previous,
): Promise<Addresses[]> {
  const { mm, pagemap } = dumpedMemory(images, pid)
  const files = inOrder(decodeAreas(mm).areas).filter(isPrivateFile)
  const dumped = intersect(stretchesOf(decodePagemap(pagemap)), files, partOfStretch)
  if (dumped.length === 0 || lengthOf(dumped) > mostBytes) return []
  await using own = await open(join(images.directory, pagesImage(pagesIdOf(pagemap))))
  const places = earlierPlaces(previous, pid, dumped)
  const equal: Addresses[] = []
  for (const [path, inFile] of Map.groupBy(places, ({ from }) => from.path)) {
    await using earlier = await open(path)
    for (const older of inFile) {
      for (const part of intersect(dumped, [older], partOfStretch)) {
        const offset = older.from.offset + part.start - older.start
        equal.push(...(await equalPages(part, own, earlier, offset)))
      }
    }
  }
  return joinRanges(equal)
}

function partOfStretch({ start: before, offset }: Stretch, { start, end }: Addresses): Stretch {
  return { start, end, offset: offset + start - before }
}

/** Where the snapshot before has these pages, as far as it does. */
function earlierPlaces(
  { chains, contents, pages }: Previous,
  pid: number,
  wanted: readonly Stretch[],
): Pick<Placed, 'start' | 'end' | 'from'>[] {
  const pieces = intersect(contents.get(pid) ?? [], joinRanges(wanted), olderPart)
  const paged = pieces.filter(({ from }) => from.kind === 'pages')
  const placed = paged.length === 0 ? [] : placesIn(chains(pid), paged)
  const others = pieces.flatMap(({ start, end, from }) => {
    if (from.kind === 'pages') return []
    const path = from.kind === 'file' ? join(pages, from.name) : from.path
    return [{ start, end, from: { kind: 'image' as const, path, offset: from.offset } }]
  })
  return [...placed, ...others]
}

/** The pages of a stretch that an earlier file has from `at` on with the same content. */
async function equalPages(
  { start, end, offset }: Stretch,
  own: FileHandle,
  earlier: FileHandle,
  at: number,
): Promise<Addresses[]> {
  const equal: Addresses[] = []
  const room = Math.min(pieceBytes, end - start)
  const [now, before] = [Buffer.allocUnsafe(room), Buffer.allocUnsafe(room)]
  for (let done = 0; done < end - start; done += pieceBytes) {
    const length = Math.min(pieceBytes, end - start - done)
    const read = await own.read(now, 0, length, offset + done)
    const readBefore = await earlier.read(before, 0, length, at + done)
    const known = Math.min(read.bytesRead, readBefore.bytesRead)
    for (let page = 0; page + pageSize <= known; page += pageSize) {
      if (now.compare(before, page, page + pageSize, page, page + pageSize) !== 0) continue
      equal.push({ start: start + done + page, end: start + done + page + pageSize })
    }
  }
  return joinRanges(equal)
}

/** Replaces a file by these parts of it. */
async function keepOnly(path: string, parts: readonly ByteRange[]): Promise<void> {
  await using source = await open(path)
  await using target = await open(`${path}.lean`, 'wx', imageMode)
  let at = 0
  for (const { offset, length } of parts) {
    await copyRange(source, offset, target, at, length)
    at += length
  }
  await target.truncate(at)
  await rename(`${path}.lean`, path)
}
