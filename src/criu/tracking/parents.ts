import { existsSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../linux/files/names-in.ts'
import type { Level } from '../images/memory/levels.ts'
import { decodePagemap, inheritedIn, pagesIdOf, withPagesId } from '../images/memory/pagemap.ts'
import { pagemapImage, pagesImage } from '../memory/dumped-processes.ts'

/**
 * A pagemap may say that some pages are in a dump before it. CRIU finds that one in the directory `parent`
 * beside the image, which may have a parent of its own. We fill it with links to images of earlier
 * snapshots, only for processes that need them.
 */
export const parentName = 'parent'

/** CRIU opens it as root of the environment. */
const parentMode = 0o755

/** Gives images the pages of these processes that an earlier snapshot has. */
export function linkParent(images: string, earlier: string, pids: readonly number[]): void {
  if (pids.length === 0) return
  const to = join(images, parentName)
  mkdirSync(to, { mode: parentMode })
  const deeper = pids.filter((pid) => {
    const name = pagemapImage(pid)
    const pagemap = readFileSync(join(earlier, name))
    const pages = pagesImage(pagesIdOf(pagemap))
    linkSync(join(earlier, name), join(to, name))
    if (!existsSync(join(to, pages))) linkSync(join(earlier, pages), join(to, pages))
    return inheritedIn(decodePagemap(pagemap)).length > 0
  })
  linkParent(to, join(earlier, parentName), deeper)
}

/**
 * The same for pages that are all in one dump, by process. Pages files of several dumps may have the same
 * number, so each gets that of its process.
 */
export function linkBases(images: string, bases: ReadonlyMap<number, Level>): void {
  if (bases.size === 0) return
  const to = join(images, parentName)
  mkdirSync(to, { mode: parentMode })
  for (const [pid, { pagemap, pages }] of bases) {
    writeFileSync(join(to, pagemapImage(pid)), withPagesId(pagemap.bytes, pid))
    linkSync(pages, join(to, pagesImage(pid)))
  }
}

/** Links the whole directory, and those below it, for a copy of the images. */
export function copyParents(from: string, to: string): void {
  for (const path of parentFiles(from)) {
    const target = join(to, path)
    mkdirSync(join(target, '..'), { recursive: true, mode: parentMode })
    linkSync(join(from, path), target)
  }
}

/** Everything that images inherit, as paths from their directory. */
export function parentFiles(images: string): string[] {
  const directory = join(images, parentName)
  const own = namesIn(directory).filter((name) => name !== parentName)
  if (own.length === 0) return []
  return [...own, ...parentFiles(directory)].map((path) => join(parentName, path))
}

/** The pages of a process in a dump, and in those before it, newest first. */
export function levelsOf(images: string, pid: number): Level[] {
  const image = join(images, pagemapImage(pid))
  if (!existsSync(image)) return []
  const pagemap = decodePagemap(readFileSync(image))
  const pages = join(images, pagesImage(pagesIdOf(pagemap.bytes)))
  return [{ pagemap, pages }, ...levelsOf(join(images, parentName), pid)]
}
