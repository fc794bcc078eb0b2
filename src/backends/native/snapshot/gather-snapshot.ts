import { link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeCopyVariant } from '../../../criu/image-variants.ts'
import { usedFiles } from '../../../criu/images/memory/areas.ts'
import { type GatheredMemory, gatherMemory } from '../../../criu/images/memory/gather.ts'
import { appendRegFiles, nextFileId } from '../../../criu/images/regular-files.ts'
import { writeManifest } from '../../../criu/manifest.ts'
import {
  type DumpedProcess,
  dumpedProcesses,
  pagesImage,
} from '../../../criu/memory/dumped-processes.ts'
import { apartInFamilies } from '../../../criu/memory/families.ts'
import { writeGathered } from '../../../criu/memory/gather-pages.ts'
import { currentHome, makeCurrent, nextHome } from '../../../criu/memory/generation.ts'
import { type KnownPages, knownPages, neededPages } from '../../../criu/memory/needed-pages.ts'
import {
  isOwnPages,
  makePagesDirectory,
  pagesInside,
  pagesName,
} from '../../../criu/memory/pages-files.ts'
import { listPages } from '../../../criu/memory/plan-sharing.ts'
import {
  mountOf,
  readFdinfos,
  readRanges,
  replaceImage,
  replaceMemoryImages,
} from '../../../criu/memory/rewrite-images.ts'
import { sharingLimits } from '../../../criu/memory/sharing-limits.ts'
import { removeTree } from '../../../linux/remove-tree.ts'
import { mustRun } from '../../../linux/run-tool.ts'
import type { SnapshotId } from '../../../model/ids.ts'
import type { Places } from '../places.ts'

interface Gathering {
  readonly process: DumpedProcess
  readonly memory: GatheredMemory
  /** of its new pages file */
  readonly name: string
}

/**
 * Brings the memory that each process of a snapshot maps of several pages files into one, with all
 * images made anew beside the old ones. Those stay until `dropStale`. False if there is nothing to do.
 */
export async function gatherSnapshot(places: Places, snapshot: SnapshotId): Promise<boolean> {
  const base = places.snapshot(snapshot)
  const from = await currentHome(base)
  const processes = dumpedProcesses(join(from, 'images'))
  const before = await readFile(join(from, 'images/files.img'))
  const known = knownPages(before)
  const mntId = mountOf(join(from, 'images'), pagesInside)
  const scattered = processes.filter(({ mm }) => isScattered(mm, known, snapshot))
  if (mntId === undefined || scattered.length === 0) return false
  const { number, path: to } = await nextHome(base)
  const nameOf = ({ pagesId }: DumpedProcess) => `${pagesName(snapshot, pagesId)}-${number}`
  const plan = planGathering({ before, known, mntId, processes: scattered, nameOf })
  await removeTree(to)
  try {
    await linkImages(join(from, 'images'), join(to, 'images'), rewrittenNames(plan.gatherings))
    await makePagesDirectory(join(to, 'pages'))
    for (const gathering of plan.gatherings) await write(gathering, { from, to, known })
    await finishImages(to, from, plan, processes)
    await mustRun('flushing memory', 'sync', ['--file-system', places.data])
    await writeManifest(to)
  } catch (error) {
    // Most likely for want of space, and it has taken what there was.
    await removeTree(to)
    throw error
  }
  await makeCurrent(base, number)
  return true
}

/** Whether a process maps anything but one file of its snapshot's own. */
function isScattered(mm: Buffer, known: KnownPages, snapshot: SnapshotId): boolean {
  const names = [...usedFiles(mm)].flatMap((id) => known.get(id) ?? [])
  return names.length > 1 || names.some((name) => !isOwnPages(name, snapshot))
}

interface Plan {
  readonly files: Buffer
  readonly gatherings: readonly Gathering[]
}

function planGathering(request: {
  /** files.img */
  readonly before: Buffer
  readonly known: KnownPages
  readonly mntId: number
  readonly processes: readonly DumpedProcess[]
  /** of its new pages file */
  nameOf(process: DumpedProcess): string
}): Plan {
  const { before, known, mntId, processes, nameOf } = request
  const limits = sharingLimits()
  const gatherings: Gathering[] = []
  const firstId = nextFileId(before)
  for (const process of processes) {
    const id = firstId + gatherings.length
    const memory = gatherMemory(process, id, (other) => known.has(other), limits)
    if (memory !== null) gatherings.push({ process, memory, name: nameOf(process) })
  }
  return { files: appendRegFiles(before, listPages(gatherings, firstId, mntId)), gatherings }
}

function rewrittenNames(gatherings: readonly Gathering[]): Set<string> {
  const ofProcesses = gatherings.flatMap(({ process: { pid, pagesId } }) => [
    ...[`mm-${pid}.img`, `pagemap-${pid}.img`, pagesImage(pagesId)],
  ])
  return new Set(['files.img', ...ofProcesses])
}

async function linkImages(from: string, to: string, but: ReadonlySet<string>): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o711 })
  const names = (await readdir(from)).filter((name) => !but.has(name))
  await Promise.all(names.map((name) => link(join(from, name), join(to, name))))
}

async function write(
  { process, memory, name }: Gathering,
  { from, to, known }: { from: string; to: string; known: KnownPages },
): Promise<void> {
  const image = join(from, 'images', pagesImage(process.pagesId))
  const sources = { image, pages: join(from, 'pages'), known }
  await writeGathered(join(to, 'pages', name), memory.copies, sources)
  await writeFile(
    join(to, 'images', pagesImage(process.pagesId)),
    readRanges(image, memory.leftovers),
  )
  await replaceMemoryImages(join(to, 'images'), process.pid, memory)
}

/** What concerns all processes together: the list of files, and the pages of those left as they are. */
async function finishImages(
  to: string,
  from: string,
  { files, gatherings }: Plan,
  processes: readonly DumpedProcess[],
): Promise<void> {
  const images = join(to, 'images')
  const gathered = new Map(gatherings.map(({ process, memory }) => [process.pid, memory.mm]))
  const imaged = processes.map(({ pid, mm }) => ({ pid, mm: gathered.get(pid) ?? mm }))
  await replaceImage(join(images, 'files.img'), await apartInFamilies(images, files, imaged))
  const mms = imaged.map(({ mm }) => mm)
  const needed = neededPages(knownPages(files), mms, readFdinfos(images))
  const made = new Set(gatherings.map(({ name }) => name))
  const kept = [...needed].filter((name) => !made.has(name))
  await Promise.all(kept.map((name) => link(join(from, 'pages', name), join(to, 'pages', name))))
  await makeCopyVariant(to, images)
}
