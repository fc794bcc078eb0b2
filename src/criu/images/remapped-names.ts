import {
  fileEntry,
  ghostFileEntry,
  mntEntry,
  regFileEntry,
  remapFilePathEntry,
} from './criu-messages.ts'
import { decodeImage, encodeImage, firstEntry } from './image-file.ts'
import { change, read } from './schema.ts'

/** A name that CRIU makes for the time of a restore, for a file that has lost its own. */
export interface RemappedName {
  /** number of the entry in files.img that has it */
  readonly id: number
  /** one character a byte */
  readonly name: string
  /** `link`: a hard link to a file that has other names; the others are what was opened and deleted */
  readonly kind: 'link' | 'file' | 'directory'
  /** number of the content of what was deleted; several that were open may be the same */
  readonly ghost?: number
  /** of the mount it is on; that of the root if it is on none that is known */
  readonly mountpoint: string
}

/** What is found at a name in the frozen environment. */
export type Place = 'free' | 'taken' | 'gone' | 'through-link'

export interface RemapImages {
  readonly files: Buffer
  readonly remaps: Buffer
  readonly mountpoints: readonly Buffer[]
  ghost(id: number): Buffer
}

const types = { linked: 0, ghost: 1 } as const
const S_IFMT = 0o170000
const S_IFDIR = 0o040000

export function remappedNames({ files, remaps, mountpoints, ghost }: RemapImages): RemappedName[] {
  const entries = new Map(
    decodeImage(files).entries.flatMap((entry) => {
      const { id, reg } = read(fileEntry, entry)
      return reg ? [[id, read(regFileEntry, reg)] as const] : []
    }),
  )
  const mounts = new Map(
    mountpoints
      .flatMap((image) => decodeImage(image).entries)
      .map((entry) => read(mntEntry, entry))
      .map(({ mntId, mountpoint }) => [mntId, mountpoint]),
  )
  const named = (id: number, kind: RemappedName['kind'], content?: number): RemappedName[] => {
    const file = entries.get(id)
    if (!file) return []
    const mountpoint = mounts.get(file.mntId ?? -1) ?? '/'
    const own = content === undefined ? {} : { ghost: content }
    return [{ id, name: absolute(file.name), kind, mountpoint, ...own }]
  }
  return decodeImage(remaps).entries.flatMap((entry) => {
    const { origId, remapId, remapType = types.linked } = read(remapFilePathEntry, entry)
    if (remapType === types.ghost) return named(origId, kindOf(ghost(remapId)), remapId)
    // The one is made of the other, for a moment, under the name that it had when it was opened.
    return remapType === types.linked ? [...named(remapId, 'link'), ...named(origId, 'file')] : []
  })
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
 * Whether CRIU may use a name as it is. It makes what is missing on the way and leaves some of it behind;
 * it follows links as root, out of the environment; and it takes a directory that is there by now for the
 * deleted one, which it then removes.
 */
export function isUsable({ name, kind }: RemappedName, place: Place): boolean {
  if (place === 'gone' || place === 'through-link') return false
  if (place === 'taken' && kind === 'directory') return false
  const last = name.slice(name.lastIndexOf('/') + 1)
  return last.length + longestSuffix <= longestName && name.length + longestSuffix <= longestPath
}

/** Names of deleted directories that another one has as well: CRIU would take the two for one. */
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
export function renameFiles(files: Buffer, names: ReadonlyMap<number, string>): Buffer {
  const image = decodeImage(files)
  const entries = image.entries.map((entry) => {
    const { id, reg } = read(fileEntry, entry)
    const name = reg && names.get(id)
    return name ? change(fileEntry, entry, { reg: change(regFileEntry, reg, { name }) }) : entry
  })
  return encodeImage({ ...image, entries })
}
