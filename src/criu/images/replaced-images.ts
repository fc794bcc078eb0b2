import { join } from 'node:path'
import { readdir, readFile } from '../../linux/quick-fs.ts'
import {
  mntEntry,
  seccompEntry,
  seccompFilter,
  uidGidExtent,
  usernsEntry,
} from './criu-messages.ts'
import { decodeImage, encodeImage } from './image-file.ts'
import { change, make, read } from './schema.ts'

interface Ids {
  readonly base: number
  readonly count: number
}

export interface Walls {
  /** of the life that is restored */
  readonly ids: Ids
  /** instructions of the filter of system calls that a new cell gets */
  readonly filter: Buffer
  /** what `/` is mounted with, as mount(2) has it */
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
 * The images that are other ones for this restore: each life has ids of its own. And a cell is walled as
 * a new one is today, whenever its snapshot was taken.
 */
export async function replacedImages(images: string, walls: Walls): Promise<ReplacedImage[]> {
  const names = await readdir(images)
  const replaced: ReplacedImage[] = []
  for (const name of names) {
    const replace = replacementOf(name, walls)
    const before = replace && (await readFile(join(images, name)))
    const content = before && replace(before)
    if (content) replaced.push({ name, content })
  }
  return replaced
}

/** Null where the image stays as it is. */
type Replacement = (image: Buffer) => Buffer | null

function replacementOf(name: string, { ids, filter, rootFlags }: Walls): Replacement | null {
  if (/^userns-\d+\.img$/.test(name)) return (image) => withIds(image, ids)
  if (/^mountpoints-\d+\.img$/.test(name)) return (image) => withRootFlags(image, rootFlags)
  if (name === 'seccomp.img') return (image) => withFilter(image, filter)
  return null
}

export function withIds(image: Buffer, { base, count }: Ids): Buffer {
  const extent = make(uidGidExtent, { first: 0, lowerFirst: base, count })
  const { head, entries } = decodeImage(image)
  const changes = { uidMap: [extent], gidMap: [extent] }
  return encodeImage({ head, entries: entries.map((entry) => change(usernsEntry, entry, changes)) })
}

/** The kernel does not let CRIU take away from the root what it was mounted with. */
export function withRootFlags(image: Buffer, wanted: number): Buffer | null {
  const { head, entries } = decodeImage(image)
  const changed = entries.map((entry) => {
    const { flags, mountpoint } = read(mntEntry, entry)
    const isBare = mountpoint === '/' && (flags & wanted) !== wanted
    return isBare ? change(mntEntry, entry, { flags: flags | wanted }) : entry
  })
  return changed.some((entry, index) => entry !== entries[index])
    ? encodeImage({ head, entries: changed })
    : null
}

/** What was installed first in every process is the cell's own; programs inside add theirs after it. */
export function withFilter(image: Buffer, filter: Buffer): Buffer | null {
  const { head, entries } = decodeImage(image)
  let isOlder = false
  const changed = entries.map((entry) => {
    const filters = read(seccompEntry, entry).filters.map((each) => {
      const { prev, filter: installed } = read(seccompFilter, each)
      if (prev !== undefined || filter.equals(installed)) return each
      isOlder = true
      return change(seccompFilter, each, { filter })
    })
    return change(seccompEntry, entry, { filters })
  })
  return isOlder ? encodeImage({ head, entries: changed }) : null
}
