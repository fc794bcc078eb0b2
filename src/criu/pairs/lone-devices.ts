import { join } from 'node:path'
import type { Tools } from '../../linux/tools.ts'
import type { Lost } from '../../model/snapshot.ts'
import { type DumpImages, openImages } from '../images/dump-images.ts'
import { fileLockEntry } from '../images/format/criu-messages.ts'
import { read } from '../images/format/schema.ts'
import type { Verdicts } from '../memory/verdicts.ts'
import { type PairsPlace, type Search, searchSince } from './search-since.ts'
import { searchedPages } from './searched-pages.ts'

/** A larger one is the heap of a language, which keeps no plain numbers. The snapshot waits for this search. */
const largestArea = 32 * 2 ** 20

const search: Search = {
  name: 'lone',
  lone: true,
  pagesIn: (images, home) => {
    const holders = lockHolders(images)
    return searchedPages(images, join(home, 'pages'), {
      process: (pid) => holders.has(pid),
      area: ({ start, end }) => end - start <= largestArea,
    })
  },
}

/**
 * Processes that hold locks and remember a device number without an inode beside it: it may be that of what they have
 * locked, as /proc/locks shows it. Such a number is not changed in copies, because nothing proves that it is one.
 * `before` is the directory of the images of the snapshot before.
 */
export async function lostDevices(
  tools: Tools,
  place: PairsPlace,
  before: string | null,
  verdicts: Verdicts,
): Promise<Lost[]> {
  if (lockHolders(openImages(join(place.home, 'images'))).size === 0) return []
  const lines = await searchSince(tools, place, before, search)
  const alone = new Set(lines.flatMap(processWithLone))
  return [...alone].map((pid) => ({
    process: { pid, command: verdicts.get(pid)?.command ?? '?' },
    object: 'a device number that it remembers beside no inode number',
    what: 'is that of the original',
    consequence:
      'the program does not find the files of a copy under it, nor their locks in /proc/locks',
  }))
}

function processWithLone(line: string): number[] {
  const [pid, _address, kind] = line.split(' ')
  return kind === 'lone' ? [Number(pid)] : []
}

function lockHolders(images: DumpImages): ReadonlySet<number> {
  if (!images.has('filelocks.img')) return new Set()
  const { entries } = images.image('filelocks.img')
  return new Set(entries.map((entry) => read(fileLockEntry, entry).pid))
}
