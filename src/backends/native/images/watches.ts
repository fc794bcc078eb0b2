import { decodeImage } from './image-file.ts'
import { read, schema } from './schema.ts'

const fileEntry = schema({ ify: [13, 'message', 'optional'], ffy: [14, 'message', 'optional'] })
const inotifyFile = schema({ wd: [5, 'message', 'repeated'] })
const inotifyWatch = schema({ fHandle: [7, 'message', 'optional'] })
const fanotifyFile = schema({ mark: [6, 'message', 'repeated'] })
const fanotifyMark = schema({ ie: [7, 'message', 'optional'] })
const inodeMark = schema({ fHandle: [2, 'message', 'optional'] })
const fileHandle = schema({ path: [4, 'string', 'optional'] })

/**
 * Whether a file is watched that CRIU found no path of, in the files of a dump. It restores such a
 * watch by the file's handle, which means one inode of one layer: where that layer is merged into
 * another, the watch would be of a file that nobody sees any more.
 */
export function watchesByHandle(files: Buffer): boolean {
  return decodeImage(files)
    .entries.flatMap(handlesOf)
    .some((handle) => read(fileHandle, handle).path === undefined)
}

function handlesOf(entry: Uint8Array): Uint8Array[] {
  const { ify, ffy } = read(fileEntry, entry)
  const watches = ify ? read(inotifyFile, ify).wd : []
  const marks = ffy ? read(fanotifyFile, ffy).mark : []
  return [
    ...watches.map((watch) => read(inotifyWatch, watch).fHandle),
    ...marks.flatMap((mark) => {
      const { ie } = read(fanotifyMark, mark)
      return ie ? [read(inodeMark, ie).fHandle] : []
    }),
  ].filter((handle) => handle !== undefined)
}
