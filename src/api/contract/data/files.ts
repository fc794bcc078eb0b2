import * as z from 'zod/mini'
import { changeKinds, fileTypes } from '../../../model/files/file-change.ts'
import * as d from './data.ts'

const fileEntry = z.object({
  type: z.enum(fileTypes),
  /** permission bits, without the type */
  mode: z.number(),
  uid: z.number(),
  gid: z.number(),
  sizeBytes: d.bytes,
  mtimeMs: z.number(),
  /** where a symlink points to */
  target: z.exactOptional(z.string()),
  /** `major:minor` of a device */
  device: z.exactOptional(z.string()),
})

export const insideEntry = z.extend(fileEntry, { path: z.string() })

export const fileChange = z.object({
  path: z.string(),
  kind: z.enum(changeKinds),
  /** null if it did not exist */
  before: z.nullable(fileEntry),
  /** null if it no longer exists */
  after: z.nullable(fileEntry),
  /** the path that a renamed file had */
  from: z.exactOptional(z.string()),
  /** growth in bytes; for a removed directory, includes everything that was in it */
  sizeDelta: z.number(),
  /** number of entries below a removed directory, if they are not listed themselves */
  contents: z.exactOptional(z.number()),
})

export const filesDiff = z.object({
  changes: z.array(fileChange),
  /** in the format of `git apply`; empty unless the caller asked for it */
  patch: z.string(),
})

/** What an environment changed below its working directory, in a form that can be applied elsewhere. */
export const applicableChanges = z.object({
  /** the directory inside that corresponds to the target of the changes */
  workdir: z.string(),
  /** sorted by path; lists every deleted entry, and a rename as a deletion and an addition */
  changes: z.array(fileChange),
  /** devices, sockets and pipes inside, which mean nothing outside */
  leftOut: z.array(z.string()),
})

const digests = z.array(z.nullable(z.string()))

/** SHA-256 in hex of the requested files, in the same order; null: not a regular file. */
export const contentDigests = z.object({ before: digests, after: digests })

/** How the files differ between two environments or snapshots. */
export type FilesDiff = d.Data<typeof filesDiff>
