import type { Lost } from '../../model/snapshot.ts'
import type { DumpImages } from '../images/dump-images.ts'
import {
  fileEntry,
  ghostFileEntry,
  inotifyFileEntry,
  inotifyWdEntry,
} from '../images/format/criu-messages.ts'
import { firstEntry } from '../images/format/image-file.ts'
import { read } from '../images/format/schema.ts'
import type { Verdicts } from '../memory/verdicts.ts'
import { holdersOf } from './holders.ts'

/**
 * Watches of files that were deleted and are still open. A restore makes such a file under another name
 * and deletes that, too, and with it the watch.
 */
export function lostWatches(images: DumpImages, verdicts: Verdicts): Lost[] {
  const ghosts = images.matching(/^ghost-file-\w+\.img$/)
  if (ghosts.length === 0) return []
  const deleted = new Set(
    ghosts.map((name) => read(ghostFileEntry, firstEntry(images.bytes(name))).ino),
  )
  const ids = images.files.entries.flatMap((entry) => {
    const { id, ify } = read(fileEntry, entry)
    const watches = ify === undefined ? [] : read(inotifyFileEntry, ify).wd
    return watches.filter((watch) => deleted.has(read(inotifyWdEntry, watch).ino)).map(() => id)
  })
  if (ids.length === 0) return []
  const holders = holdersOf(images, verdicts)
  return ids.map((id) => ({
    process: holders.get(id) ?? null,
    object: 'the inotify watch of a file that was deleted and is still open',
    what: 'ends',
    consequence: 'the program is told at once that the file is deleted, and not when it is closed',
  }))
}
