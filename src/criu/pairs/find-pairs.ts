import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { stat } from '../../linux/files/quick-fs.ts'
import type { Tools } from '../../linux/tools.ts'
import { type PairsPlace, type Search, searchSince } from './search-since.ts'
import { searchedPages } from './searched-pages.ts'

/** Where the processes of a snapshot remember device numbers of files, see native/cell/pairs/pairs.h. */
const search: Search = {
  name: 'pairs',
  lone: false,
  pagesIn: (images, home) => searchedPages(images, join(home, 'pages')),
}

export function hasPairs({ home }: Pick<PairsPlace, 'home'>): boolean {
  return existsSync(join(home, search.name))
}

/** The list for a restore; null if the processes remember nothing. */
export async function pairsOf({ home }: Pick<PairsPlace, 'home'>): Promise<string | null> {
  const path = join(home, search.name)
  return (await stat(path)).size > 0 ? path : null
}

/** Makes the list. `before` is the directory of the images of the snapshot before. */
export async function findPairs(
  tools: Tools,
  place: PairsPlace,
  before: string | null,
): Promise<void> {
  await searchSince(tools, place, before, search)
}
