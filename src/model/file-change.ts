export type FileType =
  | 'file'
  | 'directory'
  | 'symlink'
  | 'character-device'
  | 'block-device'
  | 'fifo'
  | 'socket'

/** A file of any kind, as those inside see it. */
export interface FileEntry {
  readonly type: FileType
  /** permission bits, without the type */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly sizeBytes: number
  readonly mtimeMs: number
  /** where a symlink points to */
  readonly target?: string
  /** `major:minor` of a device */
  readonly device?: string
}

/**
 * `modified`: other content, symlink target or device, whatever else changed. `type`: another kind
 * of file. `mode`, `owner`: the same content; `mode` where both changed. `renamed`: the same content
 * at another path, only where that is certain, and not looked for in files over 256 MiB.
 */
export type ChangeKind = 'added' | 'modified' | 'deleted' | 'type' | 'mode' | 'owner' | 'renamed'

/** What became of one path. Names that are not UTF-8 carry their bytes as lone surrogates. */
export interface FileChange {
  readonly path: string
  readonly kind: ChangeKind
  /** null where there was nothing */
  readonly before: FileEntry | null
  /** null where there is nothing any more */
  readonly after: FileEntry | null
  /** the path that a renamed file had */
  readonly from?: string
  /** bytes of content more than before; of a directory that is gone, with all that was in it */
  readonly sizeDelta: number
  /** entries that were below a directory that is gone, where they are not listed themselves */
  readonly contents?: number
}
