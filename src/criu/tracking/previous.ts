import { existsSync, linkSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ifExists } from '../../linux/files/if-exists.ts'
import { namesIn } from '../../linux/files/names-in.ts'
import { type DumpImages, openImages } from '../images/dump-images.ts'
import type { Level } from '../images/memory/levels.ts'
import { type Older, olderContents } from '../images/memory/older.ts'
import { dumpedMemory, pidsIn } from '../memory/dumped-processes.ts'
import { currentHome } from '../memory/generation.ts'
import { knownPages } from '../memory/needed-pages.ts'
import { levelsOf, parentName } from './parents.ts'

/** The images and pages of an earlier snapshot, held by links of our own, whatever becomes of it. */
export interface Previous {
  readonly images: DumpImages
  /** directory of its pages files */
  readonly pages: string
  /** what it has of a process, by the pid inside */
  readonly contents: ReadonlyMap<number, readonly Older[]>
  /** how many dumps its pagemaps lead to, including its own */
  readonly depth: number
  /** the pages of a process in each of them */
  chains(pid: number): readonly Level[]
}

/** Images of memory, and the list of files that they refer to. */
const needed = /^(files|mm-\d+|pagemap-\d+|pages-\d+)\.img$/

/** Links the files of a snapshot into `to`. Null if there are none, or no longer. */
export async function holdPrevious(snapshot: string, to: string): Promise<Previous | null> {
  const home = await currentHome(snapshot)
  const isHeld = ifExists(() => {
    if (!existsSync(join(home, 'images', 'files.img'))) return false
    linkTree(join(home, 'images'), join(to, 'images'))
    linkAll(join(home, 'pages'), join(to, 'pages'), () => true)
    return true
  })
  if (!isHeld) return null
  const images = openImages(join(to, 'images'))
  const known = knownPages(images.files)
  const contents = pidsIn(images).map((pid) => {
    return [pid, olderContents(dumpedMemory(images, pid), known)] as const
  })
  return {
    images,
    pages: join(to, 'pages'),
    contents: new Map(contents),
    depth: depthOf(images.directory),
    chains: (pid) => levelsOf(images.directory, pid),
  }
}

export function depthOf(images: string): number {
  return existsSync(images) ? 1 + depthOf(join(images, parentName)) : 0
}

/** With the directories of earlier pages below it. */
function linkTree(from: string, to: string): void {
  linkAll(from, to, (name) => needed.test(name))
  const parent = join(from, parentName)
  if (existsSync(parent)) linkTree(parent, join(to, parentName))
}

function linkAll(from: string, to: string, isWanted: (name: string) => boolean): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const name of namesIn(from).filter(isWanted)) linkSync(join(from, name), join(to, name))
}
