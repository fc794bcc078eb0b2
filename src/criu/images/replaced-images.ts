import type { DumpImages } from './dump-images.ts'
import {
  coreEntry,
  mntEntry,
  seccompEntry,
  seccompFilter,
  threadCoreEntry,
  uidGidExtent,
  usernsEntry,
} from './format/criu-messages.ts'
import { encodeImage, type ImageFile, mapEntries } from './format/image-file.ts'
import { change, make, read } from './format/schema.ts'

interface Ids {
  readonly base: number
  readonly count: number
}

export interface Walls {
  /** the ids of the life that is restored */
  readonly ids: Ids
  /** instructions of the system call filter that a new cell gets */
  readonly filter: Buffer
  /** how `/` is mounted, as in mount(2) */
  readonly rootFlags: number
}

/** As native/cell/stage.c mounts it. */
export function rootFlagsOf({ noNewPrivs }: { readonly noNewPrivs: boolean }): number {
  return MS_NODEV | (noNewPrivs ? MS_NOSUID : 0)
}

export interface ReplacedImage {
  readonly name: string
  readonly content: Buffer
}

const MS_NOSUID = 2
const MS_NODEV = 4

/**
 * The images that differ for this restore. Each life has its own ids, and a cell is isolated as a new one
 * is today, however old its snapshot is.
 */
export function replacedImages(images: DumpImages, walls: Walls): ReplacedImage[] {
  return images.names.flatMap((name) => {
    const replace = replacementOf(images, name, walls)
    if (replace === null) return []
    const before = images.image(name)
    const after = replace(before)
    return after === before ? [] : [{ name, content: encodeImage(after) }]
  })
}

type Replacement = (image: ImageFile) => ImageFile

function replacementOf(
  images: DumpImages,
  name: string,
  { ids, filter, rootFlags }: Walls,
): Replacement | null {
  if (/^userns-\d+\.img$/.test(name)) return (image) => withIds(image, ids)
  if (/^mountpoints-\d+\.img$/.test(name)) return (image) => withRootFlags(image, rootFlags)
  if (name === 'seccomp.img') return (image) => withFilter(image, filterOfFirst(images), filter)
  return null
}

export function withIds(image: ImageFile, { base, count }: Ids): ImageFile {
  const extent = make(uidGidExtent, { first: 0, lowerFirst: base, count })
  const changes = { uidMap: [extent], gidMap: [extent] }
  return mapEntries(image, (entry) => change(usernsEntry, entry, changes))
}

/** The kernel does not let CRIU clear flags that the root was mounted with. */
export function withRootFlags(image: ImageFile, wanted: number): ImageFile {
  return mapEntries(image, (entry) => {
    const { flags, mountpoint } = read(mntEntry, entry)
    const isBare = mountpoint === '/' && (flags & wanted) !== wanted
    return isBare ? change(mntEntry, entry, { flags: flags | wanted }) : entry
  })
}

const firstProcess = 'core-1.img'

/** Index of the oldest filter of process 1, which is the cell's own; null if it has none. */
function filterOfFirst(images: DumpImages): number | null {
  const [entry] = images.has(firstProcess) ? images.image(firstProcess).entries : []
  const threadCore = entry && read(coreEntry, entry).threadCore
  return (threadCore && read(threadCoreEntry, threadCore).seccompFilter) ?? null
}

/**
 * Replaces the cell's own filter, which every process has from process 1. It is known by its instructions:
 * programs inside add filters of their own to it, which stay as they are.
 */
export function withFilter(image: ImageFile, first: number | null, filter: Buffer): ImageFile {
  return mapEntries(image, (entry) => {
    const { filters } = read(seccompEntry, entry)
    const own = first === null ? undefined : filters[first]
    const older = own && read(seccompFilter, own).filter
    if (older === undefined || filter.equals(older)) return entry
    const current = filters.map((each) =>
      Buffer.compare(read(seccompFilter, each).filter, older) === 0
        ? change(seccompFilter, each, { filter })
        : each,
    )
    return change(seccompEntry, entry, { filters: current })
  })
}
