import type { FileHandle } from 'node:fs/promises'
import { ResourceError } from '../../../model/errors.ts'
import { printable } from '../../failures.ts'

/** A directory is held open while its content arrives; hostile depth must not use up our descriptors. */
export const MAX_DEPTH = 200
/** Each costs an inode of the host. */
export const MAX_ENTRIES = 5_000_000
/** Directories are remembered until everything else next to them is in transit. */
export const MAX_HELD = 200_000
/** Setuid and setgid bits from inside must not take effect outside. */
export const KEPT_FILE_BITS = 0o777
export const KEPT_DIRECTORY_BITS = 0o1777

export async function writeFully(file: FileHandle, bytes: Buffer, offset: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, offset + at)
    at += bytesWritten
  }
}

/** Node sets times as a number of seconds, exact to a quarter of a microsecond. */
export function seconds(ns: bigint): number {
  return Number(ns) / 1e9
}

export function tooDeep(path: string): ResourceError {
  return tooMany(path, `${MAX_DEPTH} directories deep`)
}

export function tooMany(path: string, limit: string): ResourceError {
  return new ResourceError(`cannot download ${printable(path)}: more than ${limit}`, {
    remedy: 'download a part of the tree, or pack it inside and download the archive',
  })
}
