import { fileEntry, pipeEntry } from '../format/criu-messages.ts'
import { type ImageFile, mapEntries } from '../format/image-file.ts'
import { change, read } from '../format/schema.ts'

/** As for open(2). */
const O_WRONLY = 1
/** no flag of a pipe */
const MARK = 0x20000000

/** Removes the marks of native/preload/objects/pipes.c: these ends of pipes are there to read. */
export function withReadablePipes(files: ImageFile): ImageFile {
  return mapEntries(files, (entry) => {
    const { pipe } = read(fileEntry, entry)
    if (pipe === undefined) return entry
    const { flags } = read(pipeEntry, pipe)
    if ((flags & MARK) === 0) return entry
    const changed = change(pipeEntry, pipe, { flags: flags & ~(O_WRONLY | MARK) })
    return change(fileEntry, entry, { pipe: changed })
  })
}
