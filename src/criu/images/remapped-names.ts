import type { DumpImages } from './dump-images.ts'
import {
  fileEntry,
  ghostFileEntry,
  regFileEntry,
  remapFilePathEntry,
} from './format/criu-messages.ts'
import { firstEntry, type ImageFile, mapEntries } from './format/image-file.ts'
import { change, read } from './format/schema.ts'
import { mountsOf } from './mounts.ts'

/** A name that CRIU makes during a restore, for a file that has lost its own. */
export interface RemappedName {
  /** number of the entry in files.img that has it */
  readonly id: number
  /** one character per byte */
  readonly name: string
  /** `link`: a hard link to a file that has other names; otherwise, what was opened and then deleted */
  readonly kind: 'link' | 'file' | 'directory'
  /** number of the deleted content; several open files may share it */
  readonly ghost?: number
  /** of the mount it is on; `/` if that mount is unknown */
  readonly mountpoint: string
}

/** What is found at a name in the frozen environment. */
export type Place = 'free' | 'taken' | 'gone' | 'through-link'

const types = { linked: 0, ghost: 1 } as const
const S_IFMT = 0o170000
const S_IFDIR = 0o040000

/** Empty if every open file still has its name. */
export function remappedNames(images: DumpImages): RemappedName[] {
  if (!images.has('remap-fpath.img')) return []
  const entries = new Map(
    images.files.entries.flatMap((entry) => {
      const { id, reg } = read(fileEntry, entry)
      return reg ? [[id, read(regFileEntry, reg)] as const] : []
    }),
  )
  const mounts = new Map(mountsOf(images).map(({ mntId, mountpoint }) => [mntId, mountpoint]))
  const named = (id: number, kind: RemappedName['kind'], ghost?: number): RemappedName[] => {
    const file = entries.get(id)
    if (!file) return []
    const name = absolute(file.name)
    const mountpoint = mounts.get(file.mntId ?? -1) ?? '/'
    return [
      ghost === undefined ? { id, name, kind, mountpoint } : { id, name, kind, mountpoint, ghost },
    ]
  }
  return images.image('remap-fpath.img').entries.flatMap((entry) => {
    const { origId, remapId, remapType = types.linked } = read(remapFilePathEntry, entry)
    if (remapType === types.ghost) return named(origId, kindOf(ghostIn(images, remapId)), remapId)
    // For a moment, CRIU links the remapped file under the name that it had when it was opened.
    return remapType === types.linked ? [...named(remapId, 'link'), ...named(origId, 'file')] : []
  })
}

function ghostIn(images: DumpImages, id: number): Buffer {
  return images.bytes(`ghost-file-${id.toString(16)}.img`)
}

function kindOf(ghost: Buffer): 'file' | 'directory' {
  const { mode } = read(ghostFileEntry, firstEntry(ghost))
  return (mode & S_IFMT) === S_IFDIR ? 'directory' : 'file'
}

export function absolute(name: string): string {
  return name.startsWith('/') ? name : `/${name}`
}

/** What CRIU appends to the name of a deleted file while it makes it. */
const longestSuffix = '.cr.ffffffff.ghost'.length
const longestName = 255
const longestPath = 4095

/**
 * Whether CRIU may use a name as it is. CRIU makes missing parent directories and leaves some of them
 * behind. It follows links as root, out of the environment. And if a directory now exists at that name, it
 * takes it for the deleted one, and removes it afterwards.
 */
export function isUsable({ name, kind }: RemappedName, place: Place): boolean {
  if (place === 'gone' || place === 'through-link') return false
  if (place === 'taken' && kind === 'directory') return false
  const last = name.slice(name.lastIndexOf('/') + 1)
  return last.length + longestSuffix <= longestName && name.length + longestSuffix <= longestPath
}

/** Deleted directories that had the same name as another one: CRIU would take the two for one. */
export function sharedDirectories(names: readonly RemappedName[]): ReadonlySet<RemappedName> {
  const first = new Map<string, number | undefined>()
  const directories = names.filter(({ kind }) => kind === 'directory')
  for (const { name, ghost } of directories) if (!first.has(name)) first.set(name, ghost)
  return new Set(directories.filter(({ name, ghost }) => first.get(name) !== ghost))
}

/** A name at the top of the same mount, where no link can lead elsewhere. `unique` is free there. */
export function safeName({ mountpoint }: RemappedName, unique: string): string {
  return `${mountpoint === '/' ? '' : mountpoint}/${unique}`
}

/** files.img with other names for some files. */
export function renameFiles(files: ImageFile, names: ReadonlyMap<number, string>): ImageFile {
  return mapEntries(files, (entry) => {
    const { id, reg } = read(fileEntry, entry)
    const name = reg && names.get(id)
    return name ? change(fileEntry, entry, { reg: change(regFileEntry, reg, { name }) }) : entry
  })
}
