import {
  fanotifyFileEntry,
  fanotifyInodeMarkEntry,
  fanotifyMarkEntry,
  fhEntry,
  fileEntry,
  inotifyFileEntry,
  inotifyWdEntry,
} from './criu-messages.ts'
import { decodeImage } from './image-file.ts'
import { type Message, read } from './schema.ts'

/** Handles of the files that an entry of files.img watches, as messages of their own. */
export function watchedHandles({ ify, ffy }: Message<typeof fileEntry>): Uint8Array[] {
  const watches = ify === undefined ? [] : read(inotifyFileEntry, ify).wd
  const marks = ffy === undefined ? [] : read(fanotifyFileEntry, ffy).mark
  return [
    ...watches.map((watch) => read(inotifyWdEntry, watch).fHandle),
    ...marks
      .flatMap((mark) => read(fanotifyMarkEntry, mark).ie ?? [])
      .map((inode) => read(fanotifyInodeMarkEntry, inode).fHandle),
  ]
}

/**
 * Whether a file is watched that CRIU found no path of, in the files of a dump. It restores such a
 * watch by the file's handle, which means one inode of one layer: where that layer is merged into
 * another, the watch would be of a file that nobody sees any more.
 */
export function watchesByHandle(files: Buffer): boolean {
  return decodeImage(files)
    .entries.flatMap((entry) => watchedHandles(read(fileEntry, entry)))
    .some((handle) => read(fhEntry, handle).path === undefined)
}
