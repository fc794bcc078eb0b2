import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { ConflictError } from '../../model/errors.ts'
import { printable } from '../failures.ts'
import { bytesToText, textToBytes } from './byte-text.ts'

/** Reaches an entry without any right to read it. Node has no name for it. */
const O_PATH = 0o10000000
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

/** As many as the kernel follows. */
const mostLinks = 40

/**
 * Where the host is read or written. A symlink on the way to it may have come from inside, with an
 * earlier copy, and nothing tells it from the user's own: none is followed. Those of the root
 * directory itself are the machine's own, such as /bin, as no copy puts any there.
 */
export interface HostPlace extends AsyncDisposable {
  readonly parent: FileHandle
  /** in the parent; `.` for the root directory */
  readonly name: string
  /** absolute, for messages */
  readonly path: string
}

/** Opens the directory that `path` is in; there may be nothing of that name. */
export async function openHostPlace(path: string): Promise<HostPlace> {
  const whole = await throughRootLinks(path)
  const parent = await openPlain(dirname(whole))
  const name = basename(whole) || '.'
  return { parent, name, path: whole, [Symbol.asyncDispose]: () => parent.close() }
}

/** Opens a directory that is there. */
export async function openHostDirectory(path: string): Promise<FileHandle> {
  return await openPlain(await throughRootLinks(path))
}

/** Where `name` in an open directory is reached, as `openat` would reach it. */
export function within(directory: FileHandle, name: string): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directory.fd}/`), textToBytes(name)])
}

/** Where another process reaches an open directory, for as long as this one holds it. */
export function reachable(directory: FileHandle): string {
  return `/proc/${process.pid}/fd/${directory.fd}`
}

/** Takes hold of an entry itself, whatever it is: nothing is opened for reading, no link followed. */
export async function holdEntry(place: Buffer): Promise<FileHandle> {
  return await open(place, O_PATH | O_NOFOLLOW)
}

/** Takes hold of a directory, to go through it. */
export async function holdDirectory(place: Buffer): Promise<FileHandle> {
  return await open(place, O_PATH | O_DIRECTORY | O_NOFOLLOW)
}

/** Opens a directory that is no symlink. */
export async function openDirectory(place: Buffer): Promise<FileHandle> {
  return await open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
}

/** The error for a symlink where the host is read or written. */
export async function linkRefusal(path: string, link: string): Promise<ConflictError> {
  const real = await realpath(path).catch(() => realpath(link).catch(() => null))
  return new ConflictError(`cannot use ${printable(path)}: ${printable(link)} is a symlink`, {
    remedy:
      real === null
        ? 'remove it; symlinks are not followed, as they may have come from an environment'
        : `if you mean what it leads to, give that path: ${printable(real)}`,
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
  for (let links = 0; links < mostLinks; links += 1) {
    const [first, ...rest] = partsOf(whole)
    const target = first === undefined ? null : await linkTarget(textToBytes(`/${first}`))
    if (target === null) return whole
    whole = resolve('/', target, ...rest)
  }
  throw new ConflictError(`cannot use ${printable(path)}: too many symlinks`, {
    remedy: 'give a path without symlinks',
  })
}

/** Null where there is no symlink. */
async function linkTarget(place: Buffer): Promise<string | null> {
  return await readlink(place, 'buffer').then(bytesToText, () => null)
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '')
}
