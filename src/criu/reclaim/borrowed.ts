import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { SnapshotId } from '../../model/ids.ts'
import { isOwnPages, listFiles } from '../memory/pages-files.ts'
import { parentFiles } from '../tracking/parents.ts'

/** A snapshot's images and pages, and the directory that they are in. */
export interface MemoryHome {
  readonly snapshot: SnapshotId
  readonly path: string
}

/** A name under which a snapshot has a file of memory. */
export interface HeldName {
  readonly home: MemoryHome
  /** from the home */
  readonly path: string
  /** whether the snapshot wrote the file; otherwise it may need only a part of it */
  readonly own: boolean
}

/** A file of memory, under all names that snapshots have for it. */
export interface HeldFile {
  readonly inode: number
  readonly names: readonly HeldName[]
  readonly bytes: number
  readonly size: number
  /** whether something else has it too, such as a life whose processes map it */
  readonly hasOtherUsers: boolean
}

/** The files of which every user holds only a part: whoever wrote them is gone. */
export function orphanedFiles(homes: readonly MemoryHome[]): HeldFile[] {
  const byInode = new Map<number, HeldName[]>()
  for (const name of homes.flatMap(namesIn)) {
    const { ino } = statSync(join(name.home.path, name.path))
    byInode.set(ino, [...(byInode.get(ino) ?? []), name])
  }
  return [...byInode]
    .filter(([, names]) => names.every(({ own }) => !own))
    .flatMap(([inode, names]) => heldFile(inode, names))
}

function heldFile(inode: number, names: readonly HeldName[]): HeldFile[] {
  const [first] = names
  if (first === undefined) return []
  const { size, blocks, nlink } = statSync(join(first.home.path, first.path))
  return [{ inode, names, bytes: blocks * 512, size, hasOtherUsers: nlink !== names.length }]
}

const variants = ['images', 'copies'] as const

/** Files of pages alone: all others are small, or the snapshot's own. */
function namesIn(home: MemoryHome): HeldName[] {
  const mapped = listFiles(join(home.path, 'pages')).map(({ name }) => ({
    home,
    path: join('pages', name),
    own: isOwnPages(name, home.snapshot),
  }))
  const images = variants.flatMap((variant) => {
    const directory = join(home.path, variant)
    if (!existsSync(directory)) return []
    const own = listFiles(directory).map(({ name }) => ({ name, own: true }))
    const inherited = parentFiles(directory).map((name) => ({ name, own: false }))
    return [...own, ...inherited]
      .filter(({ name }) => /(^|\/)pages-\d+\.img$/.test(name))
      .map(({ name, own }) => ({ home, path: join(variant, name), own }))
  })
  return [...mapped, ...images]
}
