import { join } from 'node:path'
import { link, rm } from '../../linux/files/quick-fs.ts'
import { removeTree } from '../../linux/files/remove-tree.ts'
import type { Tools } from '../../linux/tools.ts'
import type { SnapshotId } from '../../model/ids.ts'
import { makeCopyVariant } from '../image-variants.ts'
import { type DumpImages, openImages } from '../images/dump-images.ts'
import { usedFiles } from '../images/memory/areas.ts'
import { type OwnedMemory, ownPages } from '../images/memory/own-pages.ts'
import { mountAt } from '../images/mounts.ts'
import { appendRegFiles, nextFileId } from '../images/regular-files.ts'
import { writeManifest } from '../manifest.ts'
import { parentName } from '../tracking/parents.ts'
import { inherits, type WholeProcess, wholePages } from '../tracking/whole-pages.ts'
import { copyImages, replaceImage } from '../write-images.ts'
import { copyPages } from './copy-pages.ts'
import {
  type DumpedProcess,
  dumpedProcesses,
  pagesImage,
  withMemories,
} from './dumped-processes.ts'
import { apartInFamilies } from './families.ts'
import { currentHome, makeCurrent, nextHome } from './generation.ts'
import { type KnownPages, knownPages, neededPages } from './needed-pages.ts'
import {
  isOwnPages,
  makePagesDirectory,
  pagesInside,
  pagesName,
  readRanges,
} from './pages-files.ts'
import { listPages } from './plan-sharing.ts'

/** A process that gets its own pages file. */
interface Owner extends WholeProcess {
  readonly memory: OwnedMemory
  /** of its new pages file */
  readonly name: string
}

/**
 * Makes the memory that a snapshot's processes borrow from others its own. What a process maps from
 * several pages files is copied into one, and all images are rewritten next to the old ones, which stay
 * until `dropStale`. False if there is nothing to do.
 */
export async function ownMemory(
  tools: Tools,
  directory: string,
  snapshot: SnapshotId,
): Promise<boolean> {
  const from = await currentHome(directory)
  const images = openImages(join(from, 'images'))
  const known = knownPages(images.files)
  const processes = dumpedProcesses(images)
  const isBorrower = ({ mm }: DumpedProcess) => borrows(mm, known, snapshot)
  const concerned = processes.filter((process) => isBorrower(process) || inherits(process))
  const mntId = mountAt(images, pagesInside)
  if (mntId === undefined || concerned.length === 0) return false
  const { number, path: to } = await nextHome(directory)
  await removeTree(tools, to)
  try {
    const whole = await wholeProcesses(images, concerned, join(to, draftName))
    const borrowers = whole.filter(({ process }) => isBorrower(process))
    const owners = planOwners(images, known, borrowers, `-${number}`, snapshot)
    await writeOwned(images, { from, to, known, whole, owners, mntId })
    await removeTree(tools, join(to, draftName))
    await tools.mustRun('flushing memory', 'sync', ['--file-system', to])
    await writeManifest(to)
  } catch (error) {
    // The disk is probably full, and this is what filled it.
    await removeTree(tools, to)
    throw error
  }
  await makeCurrent(tools, directory, number)
  return true
}

/** The directory of pages that were inherited and have yet to find their place. */
const draftName = 'draft'

async function wholeProcesses(
  images: DumpImages,
  processes: readonly DumpedProcess[],
  to: string,
): Promise<WholeProcess[]> {
  const whole: WholeProcess[] = []
  for (const process of processes) {
    const pages = join(images.directory, pagesImage(process.pagesId))
    whole.push(inherits(process) ? await wholePages(images, process, to) : { process, pages })
  }
  return whole
}

/** Whether a process maps anything but one file of its snapshot's own. */
function borrows(mm: Buffer, known: KnownPages, snapshot: SnapshotId): boolean {
  const names = [...usedFiles(mm)].flatMap((id) => known.get(id) ?? [])
  return names.length > 1 || names.some((name) => !isOwnPages(name, snapshot))
}

function planOwners(
  images: DumpImages,
  known: KnownPages,
  borrowers: readonly WholeProcess[],
  suffix: string,
  snapshot: SnapshotId,
): Owner[] {
  const firstId = nextFileId(images.files)
  const owners: Owner[] = []
  for (const { process, pages } of borrowers) {
    const id = firstId + owners.length
    const memory = ownPages(process, id, (other) => known.has(other))
    const name = pagesName(snapshot, process.pagesId) + suffix
    if (memory !== null) owners.push({ process, pages, memory, name })
  }
  return owners
}

interface Writing {
  readonly from: string
  readonly to: string
  readonly known: KnownPages
  readonly whole: readonly WholeProcess[]
  readonly owners: readonly Owner[]
  /** number of the mount that the pages files are on */
  readonly mntId: number
}

/** Writes the images and pages to their new directory. Files that do not change are linked. */
async function writeOwned(images: DumpImages, writing: Writing): Promise<void> {
  const { from, to, known, whole, owners, mntId } = writing
  const added = listPages(owners, nextFileId(images.files), mntId)
  const memories = [
    ...whole.map(({ process }) => [process.pid, process] as const),
    ...owners.map(({ process, memory }) => [process.pid, memory] as const),
  ]
  const files = appendRegFiles(images.files, added)
  const owned = withMemories(images.with({ 'files.img': files }), memories)
  const written = await copyImages(apartInFamilies(owned), join(to, 'images'))
  await rm(join(to, 'images', parentName), { recursive: true, force: true })
  await makePagesDirectory(join(to, 'pages'))
  for (const owner of owners) await writePages(owner, { from, to, known })
  for (const one of whole.filter(({ process }) => !isOwner(process, owners)))
    await keepPages(one, to)
  const made = new Set(owners.map(({ name }) => name))
  const kept = [...neededPages(owned)].filter((name) => !made.has(name))
  for (const name of kept) await link(join(from, 'pages', name), join(to, 'pages', name))
  await makeCopyVariant(to, written)
}

function isOwner({ pid }: DumpedProcess, owners: readonly Owner[]): boolean {
  return owners.some(({ process }) => process.pid === pid)
}

/** The pages of a process that maps none stay images. */
async function keepPages({ process, pages }: WholeProcess, to: string): Promise<void> {
  const image = join(to, 'images', pagesImage(process.pagesId))
  await rm(image)
  await link(pages, image)
}

async function writePages(
  { process, pages, memory, name }: Owner,
  { from, to, known }: Pick<Writing, 'from' | 'to' | 'known'>,
): Promise<void> {
  const image = pagesImage(process.pagesId)
  const sources = { image: pages, pages: join(from, 'pages'), known }
  await copyPages(join(to, 'pages', name), memory.copies, sources)
  await replaceImage(join(to, 'images', image), readRanges(pages, memory.leftovers))
}
