import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { rename, writeFile } from '../../linux/files/quick-fs.ts'
import type { Tools } from '../../linux/tools.ts'
import { type DumpImages, openImages } from '../images/dump-images.ts'
import { deviceOf } from '../images/mounts.ts'
import { type Known, knownFrom } from './known-pairs.ts'
import { searchedText } from './search-devices.ts'
import type { SearchedPages } from './searched-pages.ts'

/** The directory of a snapshot's images, and the subvolume with its files. */
export interface PairsPlace {
  readonly home: string
  readonly files: string
}

export interface Search {
  /** of the list that it leaves in the directory of the images */
  readonly name: 'pairs' | 'lone'
  /** also device numbers beside which there is no inode number */
  readonly lone: boolean
  readonly pagesIn: (images: DumpImages, home: string) => readonly SearchedPages[]
}

/**
 * Makes the list, and returns its lines. Whoever else makes it meanwhile gets the same one. `before` is the directory
 * of the images of the snapshot before, if there is one: where its list is there, too, only memory that has changed
 * since is searched.
 */
export async function searchSince(
  tools: Tools,
  { home, files }: PairsPlace,
  before: string | null,
  search: Search,
): Promise<readonly string[]> {
  const { name, lone } = search
  const images = openImages(join(home, 'images'))
  const device = deviceOf(images, '/')
  const pages = search.pagesIn(images, home)
  const known = await knownIn(before, device, pages, search)
  const found = await searchedText(tools, images, files, { pages: known.pages, lone })
  const lines = [...new Set([...known.lines, ...found.split('\n').filter(Boolean)])]
  const draft = join(home, `${name}.${process.pid}.new`)
  const text = lines.length === 0 ? '' : `${[device, ...lines].join('\n')}\n`
  await writeFile(draft, text, { mode: 0o600 })
  await rename(draft, join(home, name))
  return lines
}

async function knownIn(
  before: string | null,
  device: number,
  pages: readonly SearchedPages[],
  search: Search,
): Promise<Known> {
  const everything = { lines: [], pages }
  if (before === null || !existsSync(join(before, search.name))) return everything
  // It may be removed at this moment, and then all of the memory is searched.
  return await knownFrom(before, device, pages, search).catch(() => everything)
}
