import { fileEntry, fownEntry, regFileEntry } from './criu-messages.ts'
import { decodeImage, encodeImage, type ImageFile } from './image-file.ts'
import { change, make, read } from './schema.ts'
import { unknownFormat } from './unknown-format.ts'

export interface RegularFile {
  readonly id: number
  /** its path inside */
  readonly name: string
  readonly size: number | undefined
}

/** A file to be mapped, as it is when the environment is restored. */
export interface NewRegularFile {
  /** one that is free */
  readonly id: number
  readonly name: string
  /** of the mount it is on */
  readonly mntId: number
  /** if given, CRIU refuses to restore when the file has another */
  readonly size?: number
  /** type and permissions, likewise */
  readonly mode?: number
}

const TYPE_REGULAR = 1

/** What files.img says of regular files; it counts directories and devices among them. */
export function regularFiles(files: Buffer): RegularFile[] {
  return decodeImage(files).entries.flatMap((entry) => {
    const { id, reg } = read(fileEntry, entry)
    if (!reg) return []
    const { name, size } = read(regFileEntry, reg)
    return [{ id, name, size }]
  })
}

export function regFilesUnder(files: Buffer, prefix: string): RegularFile[] {
  return regularFiles(files).filter(({ name }) => name.startsWith(prefix))
}

/** The first number that no file has; those after it are free as well. */
export function nextFileId(files: Buffer): number {
  return freshId(decodeImage(files))
}

/** files.img with more files, open for reading as CRIU has mapped ones. */
export function appendRegFiles(files: Buffer, added: readonly NewRegularFile[]): Buffer {
  if (added.length === 0) return files
  const image = decodeImage(files)
  const fown = make(fownEntry, { uid: 0, euid: 0, signum: 0, pidType: 0, pid: 0 })
  const entries = added.map(({ id, name, mntId, size, mode }) => {
    const reg = make(regFileEntry, { id, flags: 0, pos: 0n, fown, name, mntId, size, mode })
    return make(fileEntry, { type: TYPE_REGULAR, id, reg })
  })
  return encodeImage({ ...image, entries: [...image.entries, ...entries] })
}

/** files.img with a second entry of the same file, under another number. */
export function duplicateRegFile(files: Buffer, known: number): { files: Buffer; id: number } {
  const image = decodeImage(files)
  const id = freshId(image)
  const copies = image.entries.flatMap((entry) => {
    const { id: own, reg } = read(fileEntry, entry)
    if (own !== known || !reg) return []
    return [change(fileEntry, entry, { id, reg: change(regFileEntry, reg, { id }) })]
  })
  if (copies.length !== 1) throw unknownFormat('files', `it has ${copies.length} of file ${known}`)
  return { files: encodeImage({ ...image, entries: [...image.entries, ...copies] }), id }
}

function freshId({ entries }: ImageFile): number {
  return entries.reduce((most, entry) => Math.max(most, read(fileEntry, entry).id), 0) + 1
}
