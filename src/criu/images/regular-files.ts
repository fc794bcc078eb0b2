import { fileEntry, fownEntry, regFileEntry } from './format/criu-messages.ts'
import type { ImageFile } from './format/image-file.ts'
import { change, make, read } from './format/schema.ts'
import { unknownFormat } from './format/unknown-format.ts'

export interface RegularFile {
  readonly id: number
  /** its path inside */
  readonly name: string
  readonly size: number | undefined
}

/** A file to map, as it will be when the environment is restored. */
export interface NewRegularFile {
  /** a number that is free */
  readonly id: number
  readonly name: string
  /** of the mount it is on */
  readonly mntId: number
  /** if given, CRIU refuses to restore a file of another size */
  readonly size?: number
  /** type and permissions, likewise */
  readonly mode?: number
}

const TYPE_REGULAR = 1

/** The regular files in files.img, which include directories and devices. */
export function regularFiles(files: ImageFile): RegularFile[] {
  return files.entries.flatMap((entry) => {
    const { id, reg } = read(fileEntry, entry)
    if (!reg) return []
    const { name, size } = read(regFileEntry, reg)
    return [{ id, name, size }]
  })
}

/** A file as it was opened; what CRIU did not note is 0. */
export interface OpenedFile {
  readonly name: string
  readonly flags: number
  /** type and permissions */
  readonly mode: number
}

export function openedFiles(files: ImageFile): OpenedFile[] {
  return files.entries.flatMap((entry) => {
    const { reg } = read(fileEntry, entry)
    if (!reg) return []
    const { name, flags, mode = 0 } = read(regFileEntry, reg)
    return [{ name, flags, mode }]
  })
}

export function regFilesUnder(files: ImageFile, prefix: string): RegularFile[] {
  return regularFiles(files).filter(({ name }) => name.startsWith(prefix))
}

/** The first number that no file has; those after it are free as well. */
export function nextFileId(files: ImageFile): number {
  return freshId(files)
}

/** files.img with more files, open for reading, as CRIU lists mapped ones. */
export function appendRegFiles(files: ImageFile, added: readonly NewRegularFile[]): ImageFile {
  if (added.length === 0) return files
  const fown = make(fownEntry, { uid: 0, euid: 0, signum: 0, pidType: 0, pid: 0 })
  const entries = added.map(({ id, name, mntId, size, mode }) => {
    const reg = make(regFileEntry, { id, flags: 0, pos: 0n, fown, name, mntId, size, mode })
    return make(fileEntry, { type: TYPE_REGULAR, id, reg })
  })
  return { head: files.head, entries: [...files.entries, ...entries] }
}

/** files.img with a second entry for the same file, under a new number. */
export function duplicateRegFile(
  files: ImageFile,
  known: number,
): { files: ImageFile; id: number } {
  const id = freshId(files)
  const copies = files.entries.flatMap((entry) => {
    const { id: own, reg } = read(fileEntry, entry)
    if (own !== known || !reg) return []
    return [change(fileEntry, entry, { id, reg: change(regFileEntry, reg, { id }) })]
  })
  if (copies.length !== 1)
    throw unknownFormat('files', `it lists file ${known} ${copies.length} times`)
  return { files: { head: files.head, entries: [...files.entries, ...copies] }, id }
}

function freshId({ entries }: ImageFile): number {
  return entries.reduce((most, entry) => Math.max(most, read(fileEntry, entry).id), 0) + 1
}
