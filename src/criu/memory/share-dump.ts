import { join } from 'node:path'
import { writeFile } from '../../linux/files/quick-fs.ts'
import { killPoint } from '../../linux/kill-points.ts'
import type { MemoryMode } from '../../model/environment.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotMemory } from '../../model/snapshot.ts'
import type { DumpImages } from '../images/dump-images.ts'
import { refuseUnknownImages } from '../images/format/version.ts'
import { joinRanges } from '../images/memory/ranges.ts'
import { mountAt } from '../images/mounts.ts'
import { afterSharing } from './after-sharing.ts'
import {
  type DumpedProcess,
  dumpedProcesses,
  pagesImage,
  withMemories,
} from './dumped-processes.ts'
import { apartInFamilies } from './families.ts'
import { knownPages, mappedBytes, neededPages } from './needed-pages.ts'
import { linkPages, makePagesDirectory, pagesInside, readRanges, takePages } from './pages-files.ts'
import { ownersOfPages, planSharing, type Sharing } from './plan-sharing.ts'
import { type AllReached, allReached } from './reached-memory.ts'
import { sharingLimits } from './sharing-limits.ts'
import { summarize } from './summary.ts'
import { unjudged, type Verdicts } from './verdicts.ts'

export interface SharedDump {
  readonly snapshot: SnapshotId
  /** directory for the pages that the snapshot's processes will map */
  readonly pages: string
  /** directories of the pages that the dumped processes map, or that an earlier snapshot has */
  readonly from: readonly string[]
  readonly mode: MemoryMode
  readonly verdicts: Verdicts
  /** as far as it was found already */
  readonly reached: AllReached
}

export interface DumpInFiles {
  readonly images: DumpImages
  readonly memory: SnapshotMemory
  /** the processes whose pages became files just now */
  readonly sharings: readonly Sharing[]
}

/**
 * Turns the memory of a dump into files that all copies of its processes map until they write, and returns
 * the images that say so; `copyLeftovers` completes them. Touches nothing that the dumped environment uses.
 */
export async function shareDump(images: DumpImages, dump: SharedDump): Promise<DumpInFiles> {
  const { pages, mode, verdicts } = dump
  refuseUnknownImages(images.image('inventory.img'))
  await makePagesDirectory(pages)
  const processes = dumpedProcesses(images)
  const reached = await allReached(images, processes, dump)
  const { files, sharings } = plan(images, dump, processes, reached)
  for (const { process, name } of sharings) {
    await takePages(join(images.directory, pagesImage(process.pagesId)), join(pages, name))
  }
  killPoint('snapshot:shared')
  const memories = sharings.map(({ process, memory }) => [process.pid, memory] as const)
  const shared = withMemories(images.with({ 'files.img': files }), memories)
  const known = knownPages(files)
  await linkOlder(shared, dump, new Set(sharings.map(({ name }) => name)))
  const isPagesFile = (id: number) => known.has(id)
  const imaged = processes.map((process) => {
    const memory = sharings.find((sharing) => sharing.process.pid === process.pid)?.memory ?? null
    return afterSharing(process, memory, {
      verdict: verdicts.get(process.pid) ?? unjudged,
      reached: reached.get(process.pid) ?? [],
      isPagesFile,
    })
  })
  return {
    images: known.size > 0 ? apartInFamilies(shared) : shared,
    memory: summarize(mode, imaged, verdicts, (of) => mappedBytes(known, of)),
    sharings,
  }
}

function plan(
  images: DumpImages,
  { snapshot, verdicts }: SharedDump,
  processes: readonly DumpedProcess[],
  reached: AllReached,
): ReturnType<typeof planSharing> {
  const { files } = images
  const allowed = ownersOfPages(processes).filter(({ pid }) => verdicts.get(pid)?.allowed === true)
  // An environment made by an old version may not have the mount that pages files are on.
  const mntId = allowed.length === 0 ? undefined : mountAt(images, pagesInside)
  if (mntId === undefined) return { files, sharings: [] }
  const reachedOf = ({ pid }: DumpedProcess) => joinRanges(reached.get(pid) ?? [])
  const limits = sharingLimits()
  return planSharing({ snapshot, files, mntId, processes: allowed, limits, reachedOf })
}

/** The dumped pages are files to map now. The few that CRIU still copies go into new, small ones. */
export async function copyLeftovers(
  { images, sharings }: DumpInFiles,
  pages: string,
): Promise<void> {
  for (const { process, memory, name } of sharings) {
    const dumped = join(images.directory, pagesImage(process.pagesId))
    await writeFile(dumped, readRanges(join(pages, name), memory.leftovers))
  }
}

/** Links the pages of earlier snapshots that the processes map, so that they stay as long as this one. */
async function linkOlder(
  images: DumpImages,
  { pages, from }: SharedDump,
  own: ReadonlySet<string>,
): Promise<void> {
  if (knownPages(images.files).size === own.size) return
  const older = [...neededPages(images)].filter((name) => !own.has(name))
  await Promise.all(older.map((name) => linkPages(from, name, pages)))
}
