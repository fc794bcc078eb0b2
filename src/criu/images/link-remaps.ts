import { BackendError } from '../../model/errors.ts'
import type { DumpImages } from './dump-images.ts'
import { remapFilePathEntry } from './format/criu-messages.ts'
import { read } from './format/schema.ts'
import { heldFiles } from './held-files.ts'
import { regularFiles } from './regular-files.ts'
import { absolute } from './remapped-names.ts'

/** A file that is open under a name it no longer has, while it has others. */
export interface LinkRemap {
  /** its name in the images */
  readonly name: string
  /** a path to it below /proc, inside */
  readonly holder: string
}

const LINKED = 0

/** CRIU restores each of them through a hard link that it makes next to the lost name. */
export function linkRemapsOf(images: DumpImages): LinkRemap[] {
  if (!images.has('remap-fpath.img')) return []
  const remaps = images
    .image('remap-fpath.img')
    .entries.map((entry) => read(remapFilePathEntry, entry))
    .filter(({ remapType = LINKED }) => remapType === LINKED)
  if (remaps.length === 0) return []
  const links = new Map(regularFiles(images.files).map(({ id, name }) => [id, name]))
  const holders = holdersIn(images)
  return remaps.map(({ origId, remapId }) => {
    const name = links.get(remapId)
    const holder = holders.get(origId)
    if (name === undefined || holder === undefined) throw nobodyHolds(name ?? 'without a name')
    return { name: absolute(name), holder }
  })
}

/** For example, a file that is only in a message between two processes. */
function nobodyHolds(name: string): BackendError {
  const words = Buffer.from(name, 'latin1').toString()
  return new BackendError(`cannot capture the open file ${words}: it has lost its name`, {
    remedy: 'close it or give it a name again, then retry',
  })
}

/** A path for every file that a process has open, mapped or runs, by the file's number. */
function holdersIn(images: DumpImages): Map<number, string> {
  const holders = new Map<number, string>()
  const pids = images.names.flatMap((name) => /^ids-(\d+)\.img$/.exec(name)?.[1] ?? [])
  for (const pid of pids.map(Number)) {
    const { open, mapped, executable } = heldFiles(images, pid)
    for (const { id, fd } of open) holders.set(id, `/proc/${pid}/fd/${fd}`)
    if (executable !== null) holders.set(executable, `/proc/${pid}/exe`)
    for (const { start, end, shmid } of mapped) {
      holders.set(shmid, `/proc/${pid}/map_files/${start.toString(16)}-${end.toString(16)}`)
    }
  }
  return holders
}
