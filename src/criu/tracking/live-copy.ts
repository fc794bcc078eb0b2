import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tools } from '../../linux/tools.ts'
import { formatBytes } from '../../model/values/quantities.ts'
import { openImages } from '../images/dump-images.ts'
import { type Older, olderPart } from '../images/memory/older.ts'
import { type NewRun, newPagemap } from '../images/memory/pagemap.ts'
import type { Addresses } from '../images/memory/pages.ts'
import { intersect, lengthOf, subtract } from '../images/memory/ranges.ts'
import { pagemapImage, pagesImage } from '../memory/dumped-processes.ts'
import { extend, linkAllPages, pagesMode } from '../memory/pages-files.ts'
import { imageMode, imagesMode } from '../write-images.ts'
import { type Baseline, pidsInside, writeKnown } from './baseline.ts'
import { decodePages, type RangesOfProcesses } from './page-ranges.ts'
import { levelsOf, linkParent } from './parents.ts'
import { depthOf, type Previous } from './previous.ts'
import { trackedSince } from './tracker.ts'

export interface LiveCopyRequest {
  /** directory of the life, where the helper left a list of the pages that are tracked */
  readonly life: string
  /** the name of the moment since which they are */
  readonly since: string
  /** processes with less new memory are dumped in the stop */
  readonly leastBytes: number
  /** a new directory for the copy, and for what the dump needs */
  readonly directory: string
  /** what could be compared with until that moment */
  readonly earlier: Baseline | null
  /** the name of the pages file of a process whose memory copies may map; null: they may not */
  readonly pagesFileOf: (pid: number) => string | null
}

/**
 * Copies new memory of processes while they run. For the dump that follows, this is a snapshot before it:
 * it takes only pages that were written since they were tracked. Null if nothing is tracked.
 */
export async function copyLive(tools: Tools, request: LiveCopyRequest): Promise<Baseline | null> {
  const { life, since, directory, leastBytes } = request
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const words = ['live-copy', life, since, directory, String(leastBytes)]
  await tools.runCell('copying memory of the running environment', words)
  const tracked = await trackedSince(tools, life, since)
  if (tracked.size === 0) return null
  const pids = pidsInside([...tracked.keys()])
  const copied = readPages(join(directory, 'copied'))
  const previous = await previousOf(request, pids, copied)
  writeKnown(directory, pids, previous)
  const bytes = [...copied.values()].reduce((sum, ranges) => sum + lengthOf(ranges), 0)
  const why = `${formatBytes(bytes)} were copied while it ran`
  return { previous, directory, pids, written: tracked, why: { mode: 'live', why } }
}

function readPages(path: string): RangesOfProcesses {
  return decodePages(readFileSync(path))
}

async function previousOf(
  request: LiveCopyRequest,
  pids: ReadonlyMap<number, number>,
  copied: RangesOfProcesses,
): Promise<Previous> {
  const { life, directory, earlier } = request
  const images = join(directory, 'images')
  const pages = join(directory, 'pages')
  mkdirSync(images, { mode: imagesMode })
  mkdirSync(pages, { mode: 0o700 })
  if (earlier !== null) await linkAllPages(earlier.previous.pages, pages)
  const armed = readPages(join(life, 'armed'))
  const contents = new Map<number, readonly Older[]>()
  const heirs: number[] = []
  for (const [pid, inside] of pids) {
    const kept = keptOf(earlier, pid, armed.get(pid) ?? [])
    const source = join(directory, `pages-${pid}`)
    const copy = { inside, ranges: copied.get(pid) ?? [], source, images, pages }
    const pieces = await placeCopy(copy, kept, request.pagesFileOf(inside))
    contents.set(inside, inOrder([...kept, ...pieces]))
    if (kept.some(isPaged)) heirs.push(inside)
  }
  if (earlier !== null) linkParent(images, earlier.previous.images.directory, heirs)
  return {
    images: openImages(images),
    pages,
    contents,
    depth: depthOf(images),
    chains: (pid) => levelsOf(images, pid),
  }
}

/** What the snapshot before still has of a process. */
function keptOf(
  earlier: Baseline | null,
  pid: number,
  armed: readonly Addresses[],
): readonly Older[] {
  const inside = earlier?.pids.get(pid)
  const contents = inside === undefined ? undefined : earlier?.previous.contents.get(inside)
  return contents === undefined ? [] : intersect(contents, subtract(contents, armed), olderPart)
}

interface Copy {
  readonly inside: number
  readonly ranges: readonly Addresses[]
  /** file of the copied pages, in the order of `ranges` */
  readonly source: string
  readonly images: string
  readonly pages: string
}

/** Puts a copy where those who need it look for it: a file to map, or an image. */
async function placeCopy(
  { inside, ranges, source, images, pages }: Copy,
  kept: readonly Older[],
  pagesFile: string | null,
): Promise<Older[]> {
  const isMapped = pagesFile !== null && ranges.length > 0
  const here = isMapped ? [] : ranges.map((range): NewRun => ({ ...range, place: 'here' }))
  const parent = kept.filter(isPaged).map((range): NewRun => ({ ...range, place: 'parent' }))
  if (here.length + parent.length > 0) {
    writeFileSync(
      join(images, pagemapImage(inside)),
      newPagemap(inside, inOrder([...here, ...parent])),
    )
    const image = join(images, pagesImage(inside))
    if (here.length > 0) renameSync(source, image)
    else writeFileSync(image, '')
    chmodSync(image, imageMode)
  }
  if (!isMapped) return ranges.map((range) => ({ ...range, from: { kind: 'pages' } }))
  await extend(source, statSync(source).size)
  chmodSync(source, pagesMode & 0o777)
  renameSync(source, join(pages, pagesFile))
  return placed(ranges, pagesFile)
}

/** Ranges that follow each other in a file. */
function placed(ranges: readonly Addresses[], name: string): Older[] {
  let offset = 0
  return ranges.map(({ start, end }) => {
    const piece: Older = { start, end, from: { kind: 'file', name, offset } }
    offset += end - start
    return piece
  })
}

function isPaged({ from }: Older): boolean {
  return from.kind === 'pages'
}

function inOrder<T extends Addresses>(ranges: readonly T[]): T[] {
  return ranges.toSorted((a, b) => a.start - b.start)
}
