import { setImmediate as letOthersRun } from 'node:timers/promises'
import type { DumpImages } from '../images/dump-images.ts'
import { type Area, decodeAreas, isPrivateFile } from '../images/memory/areas.ts'
import { cppHeapPages } from '../images/memory/cpp-heap.ts'
import { HeldSearch, leadBytes } from '../images/memory/held.ts'
import type { Addresses } from '../images/memory/pages.ts'
import { joinRanges, subtract } from '../images/memory/ranges.ts'
import { returnedBy } from '../images/registers.ts'
import type { Reached } from '../safety/reach.ts'
import { type AllPages, pagesOf } from './all-pages.ts'
import { type DumpedProcess, inheritedBytes } from './dumped-processes.ts'
import { knownPages } from './needed-pages.ts'
import { leastBytes } from './plan-sharing.ts'
import type { Verdicts } from './verdicts.ts'

/** Memory that a process may not map from a file, and because of which of its files. */
export interface ReachedMemory extends Addresses {
  readonly why: string
}

/** By the pids of processes. */
export type AllReached = ReadonlyMap<number, readonly ReachedMemory[]>

/** Measured: 1 GB takes 0.5 s, while the environment runs. */
const mostSearched = 4 * 2 ** 30
const pieceBytes = 4 * 2 ** 20

interface Judged {
  readonly verdicts: Verdicts
  /** directories of the files that the processes map */
  readonly from: readonly string[]
  /** as far as it was found already */
  readonly reached: AllReached
}

/** Looks only at processes of which enough is copied, or would be. */
export async function allReached(
  images: DumpImages,
  processes: readonly DumpedProcess[],
  { verdicts, from, reached: known }: Judged,
): Promise<AllReached> {
  const all = new Map<number, readonly ReachedMemory[]>()
  for (const process of processes) {
    if (process.pagesBytes + inheritedBytes(process) < leastBytes) continue
    const { pid, mm } = process
    const openPages = () => pagesOf(images, process, from)
    const reached = verdicts.get(pid)?.reached ?? []
    all.set(pid, known.get(pid) ?? (await reachedMemory({ images, mm, openPages }, reached)))
  }
  return all
}

/** A dumped process. */
export interface Searched {
  /** of the whole dump */
  readonly images: DumpImages
  readonly mm: Buffer
  readonly openPages: () => AllPages
}

/** Finds the memory of a process that `reached` speaks of. */
export async function reachedMemory(
  process: Searched,
  reached: readonly Reached[],
): Promise<ReachedMemory[]> {
  const found: ReachedMemory[] = []
  if (reached.length === 0) return found
  using pages = process.openPages()
  for (const { reach, why } of reached) {
    const ranges = await rangesOf(reach, process, pages)
    found.push(...ranges.map(({ start, end }) => ({ start, end, why })))
  }
  return found
}

async function rangesOf(
  reach: Reached['reach'],
  { images, mm }: Searched,
  pages: AllPages,
): Promise<readonly Addresses[]> {
  switch (reach) {
    case 'mappings':
      return allButHeap(mm)
    case 'held':
      return (await heldIn(images, mm, pages)) ?? allButHeap(mm)
    case 'cpp-heap':
      if (!hasAll(images, mm, pages)) return allButHeap(mm)
      return cppHeapPages(mm, pages.ranges, (address) => pages.wordAt(address))
  }
}

function allButHeap(mm: Buffer): Addresses[] {
  const { start, end } = decodeAreas(mm).heap
  return [
    { start: 0, end: start },
    { start: end, end: Number.MAX_SAFE_INTEGER },
  ]
}

/** Whether nothing is missing, neither of what was dumped nor of what is mapped from pages files. */
function hasAll({ files }: DumpImages, mm: Buffer, { isComplete, ranges }: AllPages): boolean {
  const known = knownPages(files)
  const isMapped = (area: Area) => isPrivateFile(area) && known.has(area.shmid)
  const mapped = joinRanges(decodeAreas(mm).areas.filter(isMapped))
  return isComplete && subtract(mapped, joinRanges(ranges)).length === 0
}

/** Null if it cannot be told. */
async function heldIn(
  images: DumpImages,
  mm: Buffer,
  pages: AllPages,
): Promise<Addresses[] | null> {
  const returned = returnedBy(images)
  if (returned === null || !hasAll(images, mm, pages) || pages.bytes > mostSearched) return null
  const search = new HeldSearch(mm)
  for (const address of returned) search.returned(address)
  const buffer = Buffer.alloc(leadBytes + pieceBytes)
  let [last, length] = [0, 0]
  for (const piece of pages.pieces(pieceBytes)) {
    if (piece.start === last) buffer.copy(buffer, 0, length, length + leadBytes)
    else buffer.fill(0, 0, leadBytes)
    length = piece.end - piece.start
    const searched = buffer.subarray(0, leadBytes + length)
    pages.readInto(searched.subarray(leadBytes), piece)
    search.search(searched)
    last = piece.end
    await letOthersRun()
  }
  return search.found
}
