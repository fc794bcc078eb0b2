import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { rename, stat, writeFile } from '../../linux/files/quick-fs.ts'
import type { Tools } from '../../linux/tools.ts'
import { openImages } from '../images/dump-images.ts'
import { deviceOf } from '../images/mounts.ts'
import { knownFrom } from './known-pairs.ts'
import { pairsName } from './pairs-name.ts'
import { searchedText } from './search-devices.ts'
import { type SearchedPages, searchedPages } from './searched-pages.ts'

/** The directory of a snapshot's images, and the subvolume with its files. */
export interface PairsPlace {
  readonly home: string
  readonly files: string
}

export function hasPairs({ home }: Pick<PairsPlace, 'home'>): boolean {
  return existsSync(join(home, pairsName))
}

/** The list for a restore; null if the processes remember nothing. */
export async function pairsOf({ home }: Pick<PairsPlace, 'home'>): Promise<string | null> {
  const path = join(home, pairsName)
  return (await stat(path)).size > 0 ? path : null
}

/**
 * Makes the list. Whoever else makes it meanwhile gets the same one. `before` is the directory of the images of the
 * snapshot before, if its list is there: then only memory that has changed since is searched.
 */
export async function findPairs(
  tools: Tools,
  { home, files }: PairsPlace,
  before: string | null,
): Promise<void> {
  const images = openImages(join(home, 'images'))
  const device = deviceOf(images, '/')
  const pages = searchedPages(images, join(home, 'pages'))
  const known = await knownIn(before, device, pages)
  const found = await searchedText(tools, images, files, { pages: known.pages, lone: false })
  const lines = new Set([...known.lines, ...found.split('\n').filter(Boolean)])
  const draft = join(home, `${pairsName}.${process.pid}.new`)
  const text = [device, ...lines].join('\n')
  await writeFile(draft, lines.size === 0 ? '' : `${text}\n`, { mode: 0o600 })
  await rename(draft, join(home, pairsName))
}

async function knownIn(
  before: string | null,
  device: number,
  pages: readonly SearchedPages[],
): ReturnType<typeof knownFrom> {
  const everything = { lines: [], pages }
  if (before === null || !hasPairs({ home: before })) return everything
  // It may be removed at this moment, and then all of the memory is searched.
  return await knownFrom(before, device, pages).catch(() => everything)
}
