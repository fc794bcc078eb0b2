import type { Attribute } from '../attributes.ts'
import type { DumpImages } from '../dump-images.ts'
import { eventfdEntry, fileEntry, timerfdEntry } from '../format/criu-messages.ts'
import { mapEntries } from '../format/image-file.ts'
import { change, read } from '../format/schema.ts'
import { heldFiles } from '../held-files.ts'

/** O_DIRECT, which no eventfd can have: native/preload/objects/semaphores.c makes a semaphore of one that has it. */
const semaphoreMark = 0o40000

/** Words of attributes that change an entry of files.img. */
const words = new Set(['semaphore', 'ticks'])

/**
 * Marks event counters that are semaphores, which CRIU takes for plain ones, and counts all ticks of timers that
 * nobody has read: the kernel tells CRIU only of the first.
 */
export function withCounters(images: DumpImages, attributes: readonly Attribute[]): DumpImages {
  const noted = attributes.filter(({ word }) => words.has(word))
  if (noted.length === 0) return images
  const byFile = new Map(noted.map((each) => [fileOf(images, each), each]))
  const files = mapEntries(images.files, (entry) => {
    const { id, efd, tfd } = read(fileEntry, entry)
    const attribute = byFile.get(id)
    if (attribute?.word === 'semaphore' && efd) {
      const flags = read(eventfdEntry, efd).flags | semaphoreMark
      return change(fileEntry, entry, { efd: change(eventfdEntry, efd, { flags }) })
    }
    if (attribute?.word !== 'ticks' || !tfd) return entry
    const ticks = Math.max(read(timerfdEntry, tfd).ticks, Number(attribute.value))
    return change(fileEntry, entry, { tfd: change(timerfdEntry, tfd, { ticks }) })
  })
  return images.with({ 'files.img': files })
}

function fileOf(images: DumpImages, { process, number }: Attribute): number | undefined {
  return heldFiles(images, process).open.find(({ fd }) => fd === number)?.id
}
