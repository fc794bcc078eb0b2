import type { DumpImages } from '../images/dump-images.ts'
import {
  type Area,
  decodeAreas,
  isPrivateAnonymous,
  isPrivateFile,
  isShareable,
} from '../images/memory/areas.ts'
import { decodePagemap, inheritedIn, pagesIdOf, stretchesOf } from '../images/memory/pagemap.ts'
import {
  type Addresses,
  type MemoryImages,
  pageSize,
  type Stretch,
} from '../images/memory/pages.ts'
import { intersect, joinRanges, subtract } from '../images/memory/ranges.ts'
import { dumpedMemory, pidsIn } from '../memory/dumped-processes.ts'
import { type KnownPages, knownPages } from '../memory/needed-pages.ts'

/** Memory of a process that is in a pages file, too. */
export interface Run extends Stretch {
  /** inside */
  readonly pid: number
  /** what the process has there */
  readonly area: Area
  /** name of the file */
  readonly name: string
}

const PROT_EXEC = 4
const MAP_NORESERVE = 0x4000

/** Each run takes about 60 µs of the pause. What is left out is dumped again. */
const mostRuns = 400

/** A shorter run is not worth a mapping. */
const leastBytes = 16 * pageSize

/**
 * What dumped processes have to map, so that they have their memory from where their copies will have it.
 * `before` are the images as dumped, `after` those for copies. If there are too many runs, the longest.
 */
export function planRemap(before: DumpImages, after: DumpImages): Run[] {
  const files = { before: knownPages(before.files), after: knownPages(after.files) }
  if (files.after.size === 0) return []
  const memories = pidsIn(before).map((pid) => [pid, dumpedMemory(before, pid)] as const)
  const users = Map.groupBy(memories, ([, { pagemap }]) => pagesIdOf(pagemap))
  // Processes share one memory between vfork and exec.
  const alone = memories.filter(([, { pagemap }]) => users.get(pagesIdOf(pagemap))?.length === 1)
  const runs = alone.flatMap(([pid, memory]) =>
    planProcess(memory, dumpedMemory(after, pid), files).map((part): Run => ({ ...part, pid })),
  )
  return longest(runs).toSorted(byProcessAndFile)
}

/** The same for one process. */
export function planProcess(
  before: MemoryImages,
  after: MemoryImages,
  files: { readonly before: KnownPages; readonly after: KnownPages },
): Omit<Run, 'pid'>[] {
  const pieces = mappedPieces(after, files.after)
  return decodeAreas(before.mm).areas.flatMap((area) => piecesIn(area, pieces, files.before))
}

interface Piece extends Stretch {
  readonly name: string
}

/** What a copy maps from pages files, without the pages that CRIU puts over it. */
function mappedPieces({ mm, pagemap }: MemoryImages, files: KnownPages): Piece[] {
  const mapped = decodeAreas(mm).areas.flatMap((area): Piece[] => {
    const name = isPrivateFile(area) ? files.get(area.shmid) : undefined
    return name === undefined ? [] : [{ ...rangeOf(area), offset: area.pgoff, name }]
  })
  const decoded = decodePagemap(pagemap)
  const copied = joinRanges([...stretchesOf(decoded), ...inheritedIn(decoded)])
  return intersect(mapped, subtract(mapped, copied), cut)
}

/** Files that a program has mapped itself stay, and so does code that it made, which may have a key. */
function piecesIn(
  area: Area,
  pieces: readonly Piece[],
  files: KnownPages,
): (Piece & { readonly area: Area })[] {
  const name = isPrivateFile(area) ? files.get(area.shmid) : undefined
  const isMemory = isPrivateAnonymous(area) || name !== undefined
  if (!isMemory || !isShareable(area) || (area.prot & PROT_EXEC) !== 0) return []
  const isThere = (piece: Piece) =>
    piece.name === name && piece.offset - area.pgoff === piece.start - area.start
  return intersect(pieces, [rangeOf(area)], cut)
    .filter((piece) => !isThere(piece) && piece.end - piece.start >= leastBytes)
    .map((piece) => ({ ...piece, area }))
}

function rangeOf({ start, end }: Addresses): Addresses {
  return { start, end }
}

function cut(piece: Piece, { start, end }: Addresses): Piece {
  return { ...piece, start, end, offset: piece.offset + start - piece.start }
}

function longest(runs: readonly Run[]): readonly Run[] {
  if (runs.length <= mostRuns) return runs
  return runs.toSorted((a, b) => b.end - b.start - (a.end - a.start)).slice(0, mostRuns)
}

function byProcessAndFile(a: Run, b: Run): number {
  return a.pid - b.pid || a.name.localeCompare(b.name) || a.start - b.start
}

/** As native/cell/remap/plan.c reads it. `pids` are those on the host, by those inside. */
export function formatPlan(runs: readonly Run[], pids: ReadonlyMap<number, number>): string {
  const lines = runs.flatMap(({ pid, start, end, offset, area, name }) => {
    const onHost = pids.get(pid)
    if (onHost === undefined) return []
    const numbers = [start, end, offset, area.prot, area.flags & MAP_NORESERVE, area.madv ?? 0]
    return [[onHost, ...numbers.map((number) => number.toString(16)), name].join(' ')]
  })
  return lines.map((line) => `${line}\n`).join('')
}
