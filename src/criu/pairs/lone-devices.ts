import { join } from 'node:path'
import type { Tools } from '../../linux/tools.ts'
import type { Lost } from '../../model/snapshot.ts'
import { type DumpImages, openImages } from '../images/dump-images.ts'
import { fileLockEntry } from '../images/format/criu-messages.ts'
import { read } from '../images/format/schema.ts'
import type { Verdicts } from '../memory/verdicts.ts'
import type { PairsPlace } from './find-pairs.ts'
import { searchDevices } from './search-devices.ts'
import { searchedPages } from './searched-pages.ts'

/** A larger one is the heap of a language, which keeps no plain numbers. The snapshot waits for this search. */
const largestArea = 32 * 2 ** 20

/**
 * Processes that hold locks and remember a device number without an inode beside it: it may be that of what they have
 * locked, as /proc/locks shows it. Such a number is not changed in copies, because nothing proves that it is one.
 */
export async function lostDevices(
  tools: Tools,
  place: PairsPlace,
  verdicts: Verdicts,
): Promise<Lost[]> {
  const images = openImages(join(place.home, 'images'))
  const holders = lockHolders(images)
  if (holders.size === 0) return []
  const pages = searchedPages(images, join(place.home, 'pages'), {
    process: (pid) => holders.has(pid),
    area: ({ start, end }) => end - start <= largestArea,
  })
  const found = await searchDevices(tools, images, place.files, { pages, lone: true })
  const alone = new Set(found.filter(({ kind }) => kind === 'lone').map(({ pid }) => pid))
  return [...alone].map((pid) => ({
    process: { pid, command: verdicts.get(pid)?.command ?? '?' },
    object: 'a device number that it remembers beside no inode number',
    what: 'is that of the original',
    consequence:
      'the program does not find the files of a copy under it, nor their locks in /proc/locks',
  }))
}

function lockHolders(images: DumpImages): ReadonlySet<number> {
  if (!images.has('filelocks.img')) return new Set()
  const { entries } = images.image('filelocks.img')
  return new Set(entries.map((entry) => read(fileLockEntry, entry).pid))
}
