import { fileEntry, timerfdEntry } from './format/criu-messages.ts'
import { type ImageFile, mapEntries } from './format/image-file.ts'
import { change, type Message, read } from './format/schema.ts'

/**
 * files.img in which every periodic timerfd keeps ticking. The kernel starts the next period when an
 * expiry is read. Until then it tells CRIU that no time is left, as it does for a timer that is
 * switched off, and that is what CRIU would restore.
 */
export function rearmTimers(files: ImageFile): ImageFile {
  return mapEntries(files, (entry) => {
    const { tfd } = read(fileEntry, entry)
    if (!tfd || !hasUnreadExpiry(read(timerfdEntry, tfd))) return entry
    // Due immediately: the shortest time that does not mean "off".
    return change(fileEntry, entry, { tfd: change(timerfdEntry, tfd, { vnsec: 1 }) })
  })
}

function hasUnreadExpiry(timer: Message<typeof timerfdEntry>): boolean {
  const isPeriodic = timer.isec !== 0 || timer.insec !== 0
  return timer.ticks !== 0 && isPeriodic && timer.vsec === 0 && timer.vnsec === 0
}
