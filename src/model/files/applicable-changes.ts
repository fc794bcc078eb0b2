import type { FileChange } from './file-change.ts'

/** What an environment changed below its working directory, so that it can be applied elsewhere. */
export interface ApplicableChanges {
  /** the directory inside that corresponds to the one the changes are applied to */
  readonly workdir: string
  /** sorted by path; deletions are listed entry by entry, and a rename as a deletion and an addition */
  readonly changes: readonly FileChange[]
  /** paths inside of devices, sockets and pipes, which mean nothing outside */
  readonly leftOut: readonly string[]
}

/** Paths inside whose contents are compared, before the changes and after them. */
export interface ContentPaths {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** SHA-256 in hex for each of them, in their order; null for anything but a regular file. */
export interface ContentDigests {
  readonly before: readonly (string | null)[]
  readonly after: readonly (string | null)[]
}
