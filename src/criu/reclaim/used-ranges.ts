import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type DumpImages, openImages } from '../images/dump-images.ts'
import { fdinfoEntry } from '../images/format/criu-messages.ts'
import { read } from '../images/format/schema.ts'
import { decodeAreas, isFile, isPrivateFile } from '../images/memory/areas.ts'
import { placesIn } from '../images/memory/levels.ts'
import { olderContents } from '../images/memory/older.ts'
import { decodePagemap, inheritedIn } from '../images/memory/pagemap.ts'
import type { Addresses } from '../images/memory/pages.ts'
import { dumpedMemory, mmImage, pidsIn } from '../memory/dumped-processes.ts'
import { type KnownPages, knownPages } from '../memory/needed-pages.ts'
import { levelsOf } from '../tracking/parents.ts'
import type { MemoryHome } from './borrowed.ts'

/** Which bytes of which files processes need, by inode. */
export type UsedRanges = ReadonlyMap<number, readonly Addresses[]>

const everything: Addresses = { start: 0, end: Number.MAX_SAFE_INTEGER }

/**
 * What the processes of a snapshot find in files of memory. Pages that the snapshot has itself hide what
 * a mapped file has in their place.
 */
export function usedRanges({ path }: MemoryHome): UsedRanges {
  const images = openImages(join(path, 'images'))
  const known = knownPages(images.files)
  const byPath = new Map<string, Addresses[]>()
  const use = (file: string, range: Addresses) => {
    const known = byPath.get(file)
    if (known === undefined) byPath.set(file, [range])
    else known.push(range)
  }
  const pages = (name: string) => join(path, 'pages', name)
  for (const pid of pidsIn(images)) {
    for (const { start, end, from } of olderContents(dumpedMemory(images, pid), known)) {
      if (from.kind === 'file') use(pages(from.name), placeOf(from.offset, { start, end }))
    }
    for (const { start, end, from } of inheritedPlaces(images, pid))
      use(from.path, placeOf(from.offset, { start, end }))
  }
  for (const name of usedOtherwise(images, known)) use(pages(name), everything)
  return byInode(byPath)
}

function byInode(byPath: ReadonlyMap<string, readonly Addresses[]>): UsedRanges {
  const files = [...byPath].map(([path, ranges]) => ({ inode: statSync(path).ino, ranges }))
  const grouped = Map.groupBy(files, ({ inode }) => inode)
  return new Map([...grouped].map(([inode, all]) => [inode, all.flatMap(({ ranges }) => ranges)]))
}

function placeOf(offset: number, { start, end }: Addresses): Addresses {
  return { start: offset, end: offset + end - start }
}

function inheritedPlaces(images: DumpImages, pid: number) {
  const { pagemap } = dumpedMemory(images, pid)
  const inherited = inheritedIn(decodePagemap(pagemap))
  return inherited.length === 0 ? [] : placesIn(levelsOf(images.directory, pid), inherited)
}

/** Pages files that processes have open, run, or map so that every byte of them may be seen. */
function usedOtherwise(images: DumpImages, known: KnownPages): Set<string> {
  const mapped = pidsIn(images).flatMap((pid) => {
    const { areas, executable } = decodeAreas(images.bytes(mmImage(pid)))
    const odd = areas.filter((area) => isFile(area) && !isPrivateFile(area))
    return [executable, ...odd.map(({ shmid }) => shmid)]
  })
  const opened = images
    .matching(/^fdinfo-\d+\.img$/)
    .flatMap((name) => images.image(name).entries)
    .map((entry) => read(fdinfoEntry, entry).id)
  return new Set([...mapped, ...opened].flatMap((id) => known.get(id) ?? []))
}
