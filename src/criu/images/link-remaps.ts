import { join } from 'node:path'
import { readdir, readFile } from '../../linux/quick-fs.ts'
import { BackendError } from '../../model/errors.ts'
import { remapFilePathEntry } from './criu-messages.ts'
import { heldFiles } from './held-files.ts'
import { decodeImage } from './image-file.ts'
import { regularFiles } from './regular-files.ts'
import { absolute } from './remapped-names.ts'
import { read } from './schema.ts'

/** A file that is open under a name it no longer has, while it has others. */
export interface LinkRemap {
  /** the name that the images know it by */
  readonly name: string
  /** what leads to it below /proc inside */
  readonly holder: string
}

const LINKED = 0

/** CRIU names each of them to restore it by, as a hard link beside the name that is gone. */
export async function linkRemapsOf(images: string): Promise<LinkRemap[]> {
  const names = await readdir(images)
  if (!names.includes('remap-fpath.img')) return []
  const remaps = decodeImage(await readFile(join(images, 'remap-fpath.img')))
    .entries.map((entry) => read(remapFilePathEntry, entry))
    .filter(({ remapType = LINKED }) => remapType === LINKED)
  if (remaps.length === 0) return []
  const files = regularFiles(await readFile(join(images, 'files.img')))
  const links = new Map(files.map(({ id, name }) => [id, name]))
  const holders = holdersIn(images, names)
  return remaps.map(({ origId, remapId }) => {
    const name = links.get(remapId)
    const holder = holders.get(origId)
    if (name === undefined || holder === undefined) throw nobodyHolds(name ?? 'of no name')
    return { name: absolute(name), holder }
  })
}

/** One that is only in a message on its way between two processes, for example. */
function nobodyHolds(name: string): BackendError {
  const words = Buffer.from(name, 'latin1').toString()
  return new BackendError(`cannot capture the open file ${words}: it has lost its name`, {
    remedy: 'close it, or give it a name again, then try again',
  })
}

/** A path for every file that a process has open, mapped or runs, by the file's number. */
function holdersIn(images: string, names: readonly string[]): Map<number, string> {
  const holders = new Map<number, string>()
  const pids = names.flatMap((name) => /^ids-(\d+)\.img$/.exec(name)?.[1] ?? [])
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
