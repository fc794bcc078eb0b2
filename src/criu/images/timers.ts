import { fileEntry, timerfdEntry } from './criu-messages.ts'
import { decodeImage, encodeImage } from './image-file.ts'
import { change, type Message, read } from './schema.ts'

/**
 * Files of a dump in which every periodic timerfd goes on ticking; null if none needs it. The kernel
 * starts the next period when an expiry is read. Until then it tells CRIU that no time is left, as
 * it does for a timer that is switched off, and that is what CRIU would restore.
 */
export function rearmTimers(files: Buffer): Buffer | null {
  const image = decodeImage(files)
  let rearmed = 0
  const entries = image.entries.map((entry) => {
    const { tfd } = read(fileEntry, entry)
    if (!tfd || !hasUnreadExpiry(read(timerfdEntry, tfd))) return entry
    rearmed += 1
    // Due at once: the smallest time that is not "off".
    return change(fileEntry, entry, { tfd: change(timerfdEntry, tfd, { vnsec: 1 }) })
  })
  return rearmed === 0 ? null : encodeImage({ ...image, entries })
}

function hasUnreadExpiry(timer: Message<typeof timerfdEntry>): boolean {
  const isPeriodic = timer.isec !== 0 || timer.insec !== 0
  return timer.ticks !== 0 && isPeriodic && timer.vsec === 0 && timer.vnsec === 0
}
