import {
  fanotifyFileEntry,
  fanotifyInodeMarkEntry,
  fanotifyMarkEntry,
  fhEntry,
  fileEntry,
  inotifyFileEntry,
  inotifyWdEntry,
} from './format/criu-messages.ts'
import type { ImageFile } from './format/image-file.ts'
import { type Message, read } from './format/schema.ts'

/** Handles of the files that an entry of files.img watches, as messages. */
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
 * Whether a dump watches a file that CRIU found no path for. It restores such a watch by the file's
 * handle, which stands for one inode of one layer. Once that layer is squashed into another, the watch
 * would be on a file that nobody can see.
 */
export function watchesByHandle(files: ImageFile): boolean {
  return files.entries
    .flatMap((entry) => watchedHandles(read(fileEntry, entry)))
    .some((handle) => read(fhEntry, handle).path === undefined)
}
