import type { Tools } from '../../linux/tools.ts'
import { BackendError } from '../../model/errors.ts'
import type { DumpImages } from '../images/dump-images.ts'
import { deviceOf } from '../images/mounts.ts'
import type { SearchedPages } from './searched-pages.ts'

interface Searched {
  readonly pages: readonly SearchedPages[]
  /** also those beside which there is no inode number */
  readonly lone: boolean
}

/** Where pages have the device number of the files of a snapshot, in the subvolume `files`: see native/cell/pairs/search.c. */
export async function searchedText(
  tools: Tools,
  images: DumpImages,
  files: string,
  { pages, lone }: Searched,
): Promise<string> {
  const lines = pages.map(({ pid, start, end, offset, path }) => {
    if (path.includes('\n')) throw unspeakable(path)
    return `${pid} ${start} ${end} ${offset} ${path}\n`
  })
  return await tools.runCell(
    'looking for device numbers that processes remember',
    ['pairs', String(deviceOf(images, '/')), files, ...(lone ? ['lone'] : [])],
    { input: lines.join('') },
  )
}

function unspeakable(path: string): BackendError {
  return new BackendError(`the path ${JSON.stringify(path)} has a line break`, {
    remedy: 'move the home to a directory without one',
  })
}
