import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { rename } from '../../linux/files/quick-fs.ts'
import type { DumpImages } from '../images/dump-images.ts'
import { type Inherited, inherit, type PagesPart } from '../images/memory/inherit.ts'
import type { Level } from '../images/memory/levels.ts'
import type { Older } from '../images/memory/older.ts'
import { pagesIdOf } from '../images/memory/pagemap.ts'
import type { Addresses } from '../images/memory/pages.ts'
import { joinRanges } from '../images/memory/ranges.ts'
import { mountAt } from '../images/mounts.ts'
import { appendRegFiles, nextFileId } from '../images/regular-files.ts'
import { copyRange } from '../memory/copy-pages.ts'
import { dumpedMemory, pagesImage, withMemories } from '../memory/dumped-processes.ts'
import { knownPages } from '../memory/needed-pages.ts'
import { pagesInside } from '../memory/pages-files.ts'
import { listPages } from '../memory/plan-sharing.ts'
import type { AllReached, ReachedMemory } from '../memory/reached-memory.ts'
import { sharingLimits } from '../memory/sharing-limits.ts'
import type { Verdicts } from '../memory/verdicts.ts'
import { imageMode } from '../write-images.ts'
import { ancestryOf } from './ancestry.ts'
import { linkBases, linkParent } from './parents.ts'
import type { Previous } from './previous.ts'
import { reachedIn } from './reached-in.ts'

/** A dump without the pages that were not written since an earlier snapshot. */
export interface PartialDump {
  readonly previous: Previous
  /** those pages, by the pid inside */
  readonly clean: ReadonlyMap<number, readonly Addresses[]>
  readonly verdicts: Verdicts
}

/** Complete images, and what was found of memory that may not be mapped. */
export interface InheritedDump {
  readonly images: DumpImages
  readonly reached: AllReached
}

/** Completes the images of such a dump. Copies a page only where the earlier file cannot be used. */
export async function inheritDump(images: DumpImages, dump: PartialDump): Promise<InheritedDump> {
  const { previous, clean, verdicts } = dump
  const { files, fileIds } = withOlderFiles(images, dump)
  const limits = sharingLimits()
  const reached = new Map<number, readonly ReachedMemory[]>()
  const processes: Heir[] = []
  for (const [pid, ranges] of clean) {
    const memory = dumpedMemory(images, pid)
    const { older, base } = ancestryOf(previous, pid, ranges)
    const how = verdicts.get(pid)?.allowed === true ? 'map' : 'copy'
    const partial = { ...memory, clean: ranges, older }
    const unmappable = await reachedIn(images, pid, partial, dump)
    reached.set(pid, unmappable)
    const inheriting = { fileIds, files: how, unmappable: joinRanges(unmappable), limits } as const
    processes.push({ pid, base, whole: inherit(partial, inheriting) })
  }
  for (const { whole } of processes) await writeParts(images, whole, previous)
  linkAncestors(images.directory, previous.images.directory, processes)
  const memories = processes.map(({ pid, whole }) => [pid, whole] as const)
  return { images: withMemories(images.with({ 'files.img': files }), memories), reached }
}

interface Heir {
  readonly pid: number
  readonly whole: Inherited
  readonly base: Level | null
}

/** Either all inherit from the snapshot before as it is, or each from its oldest one. */
function linkAncestors(images: string, earlier: string, processes: readonly Heir[]): void {
  const heirs = processes.filter(({ whole }) => whole.hasParent)
  const bases = heirs.flatMap(({ pid, base }) => (base === null ? [] : [[pid, base] as const]))
  if (bases.length > 0) linkBases(images, new Map(bases))
  else
    linkParent(
      images,
      earlier,
      heirs.map(({ pid }) => pid),
    )
}

/** files.img with the earlier pages files that processes may map, and their numbers. */
function withOlderFiles(images: DumpImages, { previous, clean, verdicts }: PartialDump) {
  const numbers = new Map([...knownPages(images.files)].map(([id, name]) => [name, id]))
  const mntId = mountAt(images, pagesInside)
  if (mntId === undefined) return { files: images.files, fileIds: new Map<string, number>() }
  const allowed = [...clean.keys()].filter((pid) => verdicts.get(pid)?.allowed === true)
  const names = allowed.flatMap((pid) => (previous.contents.get(pid) ?? []).flatMap(nameOf))
  const added = [...new Set(names)].filter((name) => !numbers.has(name)).map((name) => ({ name }))
  const listed = listPages(added, nextFileId(images.files), mntId)
  added.forEach(({ name }, index) => {
    const id = listed[index]?.id
    if (id !== undefined) numbers.set(name, id)
  })
  return { files: appendRegFiles(images.files, listed), fileIds: numbers }
}

function nameOf({ from }: Older): string[] {
  return from.kind === 'file' ? [from.name] : []
}

/** Puts pages out of earlier files between those that the dump wrote. */
async function writeParts(
  images: DumpImages,
  { pagemap, parts }: Inherited,
  previous: Previous,
): Promise<void> {
  if (parts === null) return
  const path = join(images.directory, pagesImage(pagesIdOf(pagemap)))
  await using target = await open(`${path}.new`, 'wx', imageMode)
  let at = 0
  for (const { from, length } of parts) {
    await using source = await open(sourceOf(from, path, previous))
    await copyRange(source, from.offset, target, at, length)
    at += length
  }
  await target.truncate(at)
  await rename(`${path}.new`, path)
}

function sourceOf(from: PagesPart['from'], own: string, { pages }: Previous): string {
  if (from.kind === 'dump') return own
  return from.kind === 'image' ? from.path : join(pages, from.name)
}
