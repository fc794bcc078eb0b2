import { decodeImage, encodeImage } from './image-file.ts'
import {
  bytesField,
  decodeMessage,
  encodeMessage,
  type Message,
  numberOf,
  varintField,
} from './message.ts'

/** Field numbers of CRIU's FileEntry and TimerfdEntry that matter here. */
const TIMERFD = 12
const timer = { ticks: 5, valueSec: 7, valueNsec: 8, intervalSec: 9, intervalNsec: 10 }

/**
 * Files of a dump in which every periodic timerfd goes on ticking; null if none needs it. The kernel
 * starts the next period when an expiry is read. Until then it tells CRIU that no time is left, as
 * it does for a timer that is switched off, and that is what CRIU would restore.
 */
export function rearmTimers(files: Buffer): Buffer | null {
  const image = decodeImage(files)
  let rearmed = 0
  const entries = image.entries.map((entry) => {
    const message = decodeMessage(entry)
    const inner = message.find(({ number }) => number === TIMERFD)?.value
    if (!Buffer.isBuffer(inner)) return entry
    const timerfd = decodeMessage(inner)
    if (!hasUnreadExpiry(timerfd)) return entry
    rearmed += 1
    return encodeMessage(replaced(message, timerfd))
  })
  return rearmed === 0 ? null : encodeImage({ ...image, entries })
}

function hasUnreadExpiry(timerfd: Message): boolean {
  const [ticks, ...numbers] = [
    ...[timer.ticks, timer.valueSec, timer.valueNsec],
    ...[timer.intervalSec, timer.intervalNsec],
  ].map((number) => numberOf(timerfd, number) ?? 0)
  const [valueSec, valueNsec, intervalSec, intervalNsec] = numbers
  const isPeriodic = intervalSec !== 0 || intervalNsec !== 0
  return ticks !== 0 && isPeriodic && valueSec === 0 && valueNsec === 0
}

/** Due at once: the smallest time that is not "off". */
function replaced(message: Message, timerfd: Message): Message {
  const due = timerfd.map((field) =>
    field.number === timer.valueNsec ? varintField(timer.valueNsec, 1n) : field,
  )
  return message.map((field) =>
    field.number === TIMERFD ? bytesField(TIMERFD, encodeMessage(due)) : field,
  )
}
