import { type BigIntStats, constants, lstatSync, openSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { hostRefusal } from '../../failures.ts'
import { within } from '../host-path.ts'

/** An entry of the host: its name in an open directory, and its path for messages. */
export interface HostEntry {
  readonly parent: Pick<FileHandle, 'fd'>
  readonly name: string
  readonly path: string
}

/** Measured in a tree of 5,600 files: through the thread pool it takes twenty times as long. */
export async function look({ parent, name }: HostEntry): Promise<BigIntStats> {
  return lstatSync(within(parent, name), { bigint: true })
}

/** Opens a directory to list it and to reach what is in it, but not a symlink to one. */
export function holdToList(place: Buffer): { readonly fd: number } {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
  return { fd: openSync(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) }
}

/** Names what could not be done on the host. */
export async function asHost<T>(verb: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw hostRefusal({ verb, subject: path }, error)
  }
}
