import type { Tools } from '../../linux/tools.ts'
import { BackendError } from '../../model/errors.ts'
import type { DumpImages } from '../images/dump-images.ts'
import { deviceOf } from '../images/mounts.ts'
import type { SearchedPages } from './searched-pages.ts'

/** A word in the memory of a process that is a device number. */
export interface FoundDevice {
  /** inside */
  readonly pid: number
  /** `lone`: beside no inode number */
  readonly kind: 'plain' | 'statx' | 'lone'
}

interface Searched {
  readonly pages: readonly SearchedPages[]
  readonly lone: boolean
}

/** Searches pages for the device number of the files of a snapshot, in the subvolume `files`. */
export async function searchDevices(
  tools: Tools,
  images: DumpImages,
  files: string,
  searched: Searched,
): Promise<FoundDevice[]> {
  const found = await searchedText(tools, images, files, searched)
  return found.split('\n').flatMap((line) => {
    const [, pid, kind] = /^(\d+) \d+ (plain|statx|lone)$/.exec(line) ?? []
    if (kind !== 'plain' && kind !== 'statx' && kind !== 'lone') return []
    return [{ pid: Number(pid), kind }]
  })
}

/** The same as a text that a restore reads: see native/cell/pairs/search.c. */
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
