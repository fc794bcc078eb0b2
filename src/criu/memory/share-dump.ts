import { join } from 'node:path'
import { killPoint } from '../../linux/kill-points.ts'
import { readFile, writeFile } from '../../linux/quick-fs.ts'
import type { MemoryMode } from '../../model/environment.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotMemory } from '../../model/snapshot.ts'
import { refuseUnknownImages } from '../images/version.ts'
import { type DumpedProcess, dumpedProcesses, pagesImage } from './dumped-processes.ts'
import { apartInFamilies } from './families.ts'
import { type KnownPages, knownPages, mappedBytes, neededPages } from './needed-pages.ts'
import { linkPages, makePagesDirectory, pagesInside, takePages } from './pages-files.ts'
import { ownersOfPages, planSharing, type Sharing } from './plan-sharing.ts'
import {
  mountOf,
  readFdinfos,
  readRanges,
  replaceImage,
  replaceMemoryImages,
} from './rewrite-images.ts'
import { sharingLimits } from './sharing-limits.ts'
import { type ImagedProcess, summarize } from './summary.ts'
import type { Verdicts } from './verdicts.ts'

export interface Dump {
  readonly snapshot: SnapshotId
  readonly images: string
  /** directory for what the snapshot's processes will map */
  readonly pages: string
  /** directory of what the dumped processes map */
  readonly from: string
  readonly mode: MemoryMode
  readonly verdicts: Verdicts
}

/**
 * Turns the memory of a dump into files that all copies of its processes map until they write. No
 * page is copied, and nothing that the dumped environment itself uses is touched.
 */
export async function shareDump(dump: Dump): Promise<SnapshotMemory> {
  const { images, pages, mode, verdicts } = dump
  refuseUnknownImages(await readFile(join(images, 'inventory.img')))
  await makePagesDirectory(pages)
  const processes = dumpedProcesses(images)
  const before = await readFile(join(images, 'files.img'))
  const { files, sharings } = plan(dump, before, processes)
  await Promise.all(sharings.map((sharing) => share(sharing, dump)))
  killPoint('snapshot:shared')
  const imaged = processes.map((process) => afterSharing(process, sharings))
  const known = knownPages(files)
  const apart = known.size > 0 ? await apartInFamilies(images, files, imaged) : files
  if (apart !== before) await replaceImage(join(images, 'files.img'), apart)
  await linkOlder(dump, known, imaged, new Set(sharings.map(({ name }) => name)))
  return summarize(mode, imaged, verdicts, (mm) => mappedBytes(known, mm))
}

function plan(
  { images, snapshot, verdicts }: Dump,
  files: Buffer,
  processes: readonly DumpedProcess[],
): { files: Buffer; sharings: readonly Sharing[] } {
  const allowed = ownersOfPages(processes).filter(({ pid }) => verdicts.get(pid)?.allowed === true)
  // An environment that began before there was a place for pages has none to map them at.
  const mntId = allowed.length === 0 ? undefined : mountOf(images, pagesInside)
  if (mntId === undefined) return { files, sharings: [] }
  return planSharing({ snapshot, files, mntId, processes: allowed, limits: sharingLimits() })
}

async function share({ process, memory, name }: Sharing, { images, pages }: Dump): Promise<void> {
  const dumped = join(images, pagesImage(process.pagesId))
  const taken = join(pages, name)
  await takePages(dumped, taken)
  await Promise.all([
    writeFile(dumped, readRanges(taken, memory.leftovers)),
    replaceMemoryImages(images, process.pid, memory),
  ])
}

function afterSharing(
  { pid, mm, pagesBytes }: DumpedProcess,
  sharings: readonly Sharing[],
): ImagedProcess {
  const memory = sharings.find(({ process }) => process.pid === pid)?.memory
  if (!memory) return { pid, mm, copiedBytes: pagesBytes }
  const copiedBytes = memory.leftovers.reduce((sum, { length }) => sum + length, 0)
  return { pid, mm: memory.mm, copiedBytes }
}

/** What the processes map of earlier snapshots belongs to this one as well. */
async function linkOlder(
  { images, pages, from }: Dump,
  known: KnownPages,
  processes: readonly ImagedProcess[],
  own: ReadonlySet<string>,
): Promise<void> {
  if (known.size === own.size) return
  const mms = processes.map(({ mm }) => mm)
  const needed = neededPages(known, mms, readFdinfos(images))
  const older = [...needed].filter((name) => !own.has(name))
  await Promise.all(older.map((name) => linkPages(from, name, pages)))
}
