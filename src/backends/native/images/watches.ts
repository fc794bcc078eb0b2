import { decodeImage } from './image-file.ts'
import { decodeMessage, type Message } from './message.ts'

/** Field numbers of CRIU's messages that matter here. */
const file = { inotify: 13, fanotify: 14 }
const inotify = { watches: 5 }
const watch = { handle: 7 }
const fanotify = { marks: 6 }
const mark = { inode: 7 }
const inodeMark = { handle: 2 }
const handle = { path: 4 }

/**
 * Whether a file is watched that CRIU found no path of, in the files of a dump. It restores such a
 * watch by the file's handle, which means one inode of one layer: where that layer is merged into
 * another, the watch would be of a file that nobody sees any more.
 */
export function watchesByHandle(files: Buffer): boolean {
  return decodeImage(files)
    .entries.map(decodeMessage)
    .flatMap((entry) => [
      ...below(entry, file.inotify, inotify.watches, watch.handle),
      ...below(entry, file.fanotify, fanotify.marks, mark.inode, inodeMark.handle),
    ])
    .some((one) => !one.some(({ number }) => number === handle.path))
}

/** The messages that this path of field numbers leads to. */
function below(message: Message, ...[first, ...rest]: number[]): Message[] {
  if (first === undefined) return [message]
  return message.flatMap(({ number, value }) =>
    number === first && Buffer.isBuffer(value) ? below(decodeMessage(value), ...rest) : [],
  )
}
