import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { rename, stat, writeFile } from '../../linux/files/quick-fs.ts'
import type { Tools } from '../../linux/tools.ts'
import { openImages } from '../images/dump-images.ts'
import { deviceOf } from '../images/mounts.ts'
import { searchedText } from './search-devices.ts'
import { searchedPages } from './searched-pages.ts'

/** Where the processes of a snapshot remember device numbers of files, see native/cell/pairs/pairs.h. */
const fileName = 'pairs'

/** The directory of a snapshot's images, and the subvolume with its files. */
export interface PairsPlace {
  readonly home: string
  readonly files: string
}

export function hasPairs({ home }: Pick<PairsPlace, 'home'>): boolean {
  return existsSync(join(home, fileName))
}

/** The list for a restore; null if the processes remember nothing. */
export async function pairsOf({ home }: Pick<PairsPlace, 'home'>): Promise<string | null> {
  const path = join(home, fileName)
  return (await stat(path)).size > 0 ? path : null
}

/** Makes the list. Whoever else makes it meanwhile gets the same one. */
export async function findPairs(tools: Tools, { home, files }: PairsPlace): Promise<void> {
  const images = openImages(join(home, 'images'))
  const device = deviceOf(images, '/')
  const pages = searchedPages(images, join(home, 'pages'))
  const found = await searchedText(tools, images, files, { pages, lone: false })
  const draft = join(home, `${fileName}.${process.pid}.new`)
  await writeFile(draft, found === '' ? '' : `${device}\n${found}`, { mode: 0o600 })
  await rename(draft, join(home, fileName))
}
