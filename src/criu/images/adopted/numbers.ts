import { type FileHandle, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type DumpImages, openImages } from '../dump-images.ts'
import {
  coreEntry,
  fileLockEntry,
  pstreeEntry,
  threadNumberPlace,
} from '../format/criu-messages.ts'
import { mapEntries } from '../format/image-file.ts'
import { change, read } from '../format/schema.ts'
import { unknownFormat } from '../format/unknown-format.ts'
import { decodePagemap, pagesIdOf, stretchesOf } from '../memory/pagemap.ts'

/** Process 1 of a cell is the agent. */
const taken = 1

/** Images that are named after a process or a thread; the numbers of all others mean something else. */
const named = /^(core|mm|pagemap|ids|fs)-(\d+)\.img$/

/**
 * Gives a tree of processes numbers that it can have in a cell: its process 1 becomes another, and if its
 * session or process group began outside, its first process leads them.
 */
export async function renumber(directory: string): Promise<DumpImages> {
  const before = openImages(directory)
  const to = numberFor(before)
  const tree = processesIn(before)
  if (tree.some(({ pid }) => pid === taken)) {
    await renameImages(before, to)
    await renumberInMemory(openImages(directory), to)
  }
  const images = openImages(directory)
  const [root] = tree
  if (root === undefined) throw unknownFormat('pstree', 'it is empty')
  const moved = (number: number) => (number === taken ? to : number)
  // A leader's own group and session have its number.
  const led = (number: number, outer: number) => moved(number === outer ? root.pid : number)
  const pstree = mapEntries(images.image('pstree.img'), (entry) => {
    const { pid, ppid, pgid, sid, threads } = read(pstreeEntry, entry)
    return change(pstreeEntry, entry, {
      pid: moved(pid),
      ppid: moved(ppid),
      pgid: led(pgid, root.pgid),
      sid: led(sid, root.sid),
      threads: threads.map(moved),
    })
  })
  return withLocks(images.with({ 'pstree.img': pstree }), moved)
}

function processesIn(images: DumpImages) {
  return images.image('pstree.img').entries.map((entry) => read(pstreeEntry, entry))
}

/** Every number that belongs to the tree, in order. */
function numbersIn(images: DumpImages): number[] {
  const all = processesIn(images).flatMap(({ pid, pgid, sid, threads }) => [
    ...[pid, pgid, sid],
    ...threads,
  ])
  return [...new Set(all)].sort((one, other) => one - other)
}

/** The first of so many numbers in a row that nothing in the tree has, for a CRIU that restores it. */
export function freeNumbers(images: DumpImages, count: number): number {
  let first = taken + 1
  for (const number of numbersIn(images)) {
    if (number < first) continue
    if (number >= first + count) break
    first = number + 1
  }
  return first
}

/** The lowest that nothing in the tree has. */
function numberFor(images: DumpImages): number {
  const used = new Set(numbersIn(images))
  let number = taken + 1
  while (used.has(number)) number += 1
  return number
}

async function renameImages({ directory, names }: DumpImages, to: number): Promise<void> {
  for (const name of names) {
    const [, kind, number] = named.exec(name) ?? []
    if (Number(number) !== taken) continue
    await rename(join(directory, name), join(directory, `${kind}-${to}.img`))
  }
}

function withLocks(images: DumpImages, moved: (number: number) => number): DumpImages {
  if (!images.has('filelocks.img')) return images
  const locks = mapEntries(images.image('filelocks.img'), (entry) => {
    const { pid } = read(fileLockEntry, entry)
    return moved(pid) === pid ? entry : change(fileLockEntry, entry, { pid: moved(pid) })
  })
  return images.with({ 'filelocks.img': locks })
}

/**
 * The C library remembers the number of its main thread, and gives it to the kernel with some signals and
 * locks. It is where the kernel clears it when the thread ends.
 */
async function renumberInMemory(images: DumpImages, pid: number): Promise<void> {
  const address = placeOfNumber(images, pid)
  const pagemap = images.bytes(`pagemap-${pid}.img`)
  const stretch = stretchesOf(decodePagemap(pagemap)).find(
    ({ start, end }) => start <= address && address + 4 <= end,
  )
  if (stretch === undefined) return
  const path = join(images.directory, `pages-${pagesIdOf(pagemap)}.img`)
  await using pages = await open(path, 'r+')
  await replaceNumber(pages, stretch.offset + address - stretch.start, pid)
}

function placeOfNumber(images: DumpImages, pid: number): number {
  const [core] = images.image(`core-${pid}.img`).entries
  const { threadInfo, threadInfoArm64 } = core ? read(coreEntry, core) : {}
  const info = threadInfo ?? threadInfoArm64
  return info === undefined ? 0 : read(threadNumberPlace, info).clearTidAddr
}

/** Another C library may keep something else there. */
async function replaceNumber(pages: FileHandle, offset: number, number: number): Promise<void> {
  const bytes = Buffer.alloc(4)
  await pages.read(bytes, 0, bytes.length, offset)
  if (bytes.readInt32LE() !== taken) return
  bytes.writeInt32LE(number)
  await pages.write(bytes, 0, bytes.length, offset)
}
