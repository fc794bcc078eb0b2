export const fileTypes = [
  'file',
  'directory',
  'symlink',
  'character-device',
  'block-device',
  'fifo',
  'socket',
] as const

export type FileKind = (typeof fileTypes)[number]

/** A file of any kind, as seen inside. */
export interface ChangedFile {
  readonly type: FileKind
  /** permission bits, without the type */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly sizeBytes: number
  readonly mtimeMs: number
  /** the target of a symlink */
  readonly target?: string
  /** `major:minor` of a device */
  readonly device?: string
}

/** A file of any kind, with its path inside. */
export interface InsideEntry extends ChangedFile {
  readonly path: string
}

export const changeKinds = [
  'added',
  'modified',
  'deleted',
  'type',
  'mode',
  'owner',
  'renamed',
] as const

/**
 * `modified`: the content, symlink target or device changed, whatever else did. `type`: another kind
 * of file. `mode`, `owner`: the same content; `mode` if both changed. `renamed`: the same content
 * at another path, only if that is certain; not detected in files over 256 MiB.
 */
export type ChangeKind = (typeof changeKinds)[number]

/** The change of one path. Names that are not UTF-8 carry their bytes as lone surrogates. */
export interface FileChange {
  readonly path: string
  readonly kind: ChangeKind
  /** null if nothing was there */
  readonly before: ChangedFile | null
  /** null if nothing is there now */
  readonly after: ChangedFile | null
  /** the path that a renamed file had */
  readonly from?: string
  /** change of the content in bytes; for a deleted directory, of everything in it */
  readonly sizeDelta: number
  /** number of entries below a deleted directory, if they are not listed themselves */
  readonly contents?: number
}

const localKinds: ReadonlySet<FileKind> = new Set<FileKind>([
  'character-device',
  'block-device',
  'socket',
  'fifo',
])

/** Whether it is a device, socket or pipe now, which means nothing outside of the environment. */
export function isLocal({ after }: FileChange): boolean {
  return after !== null && localKinds.has(after.type)
}
