import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { ConflictError } from '../../model/errors.ts'
import { printable } from '../failures.ts'
import { bytesToText, textToBytes } from './byte-text.ts'

/** Opens an entry without any right to read it. Node has no name for this flag. */
const O_PATH = 0o10000000
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

/** The kernel's own limit. */
const maxLinks = 40

/**
 * A place on the host to read or write. A symlink on the way to it may have come from inside, with an
 * earlier copy, and cannot be distinguished from the user's own, so none is followed. Symlinks in the root
 * directory, such as /bin, belong to the machine, because no copy puts any there.
 */
export interface HostPlace extends AsyncDisposable {
  readonly parent: FileHandle
  /** in the parent; `.` for the root directory */
  readonly name: string
  /** absolute, for messages */
  readonly path: string
}

/** Opens the directory that `path` is in; `path` itself need not exist. */
export async function openHostPlace(path: string): Promise<HostPlace> {
  const whole = await throughRootLinks(path)
  const parent = await openPlain(dirname(whole))
  const name = basename(whole) || '.'
  return { parent, name, path: whole, [Symbol.asyncDispose]: () => parent.close() }
}

/** Opens an existing directory. */
export async function openHostDirectory(path: string): Promise<FileHandle> {
  return await openPlain(await throughRootLinks(path))
}

/** A path to `name` in an open directory, as for `openat`. */
export function within(directory: Pick<FileHandle, 'fd'>, name: string): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directory.fd}/`), textToBytes(name)])
}

/** A path by which another process can open this directory while we hold it. */
export function reachable(directory: FileHandle): string {
  return `/proc/${process.pid}/fd/${directory.fd}`
}

/** Opens an entry itself, whatever it is: not for reading, and without following a link. */
export async function holdEntry(place: Buffer): Promise<FileHandle> {
  return await open(place, O_PATH | O_NOFOLLOW)
}

/** Opens a directory in order to pass through it. */
export async function holdDirectory(place: Buffer): Promise<FileHandle> {
  return await open(place, O_PATH | O_DIRECTORY | O_NOFOLLOW)
}

/** Opens a directory, but not a symlink to one. */
export async function openDirectory(place: Buffer): Promise<FileHandle> {
  return await open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
}

/** The error for a symlink in a path of the host. */
export async function linkRefusal(path: string, link: string): Promise<ConflictError> {
  const real = await realpath(path).catch(() => realpath(link).catch(() => null))
  return new ConflictError(`cannot use ${printable(path)}: ${printable(link)} is a symlink`, {
    remedy:
      real === null
        ? 'remove it; symlinks are not followed, because they may come from an environment'
        : `if you mean its target, give that path: ${printable(real)}`,
    detail: { link: printable(link) },
  })
}

async function openPlain(path: string): Promise<FileHandle> {
  let at = await open('/', O_RDONLY | O_DIRECTORY)
  let reached = ''
  try {
    for (const name of partsOf(path)) {
      reached += `/${name}`
      const next = await enter(at, name, path, reached)
      await at.close()
      at = next
    }
    return at
  } catch (error) {
    await at.close()
    throw error
  }
}

async function enter(
  at: FileHandle,
  name: string,
  path: string,
  reached: string,
): Promise<FileHandle> {
  try {
    return await openDirectory(within(at, name))
  } catch (error) {
    const isLink = (await linkTarget(within(at, name))) !== null
    throw isLink ? await linkRefusal(path, reached) : error
  }
}

async function throughRootLinks(path: string): Promise<string> {
  let whole = resolve(path)
  for (let links = 0; links < maxLinks; links += 1) {
    const [first, ...rest] = partsOf(whole)
    const target = first === undefined ? null : await linkTarget(textToBytes(`/${first}`))
    if (target === null) return whole
    whole = resolve('/', target, ...rest)
  }
  throw new ConflictError(`cannot use ${printable(path)}: too many symlinks`, {
    remedy: 'give a path without symlinks',
  })
}

/** Null if it is not a symlink. */
async function linkTarget(place: Buffer): Promise<string | null> {
  return await readlink(place, 'buffer').then(bytesToText, () => null)
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '')
}
