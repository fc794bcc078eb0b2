import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises'
import { bytesToText, textToBytes } from '../../agent/byte-text.ts'
import type { FileType } from '../../model/file-change.ts'
import { quote } from '../../model/quote.ts'
import { hostFailure } from './host-failure.ts'

/** Reaches an entry without any right to read it. Node has no name for it. */
const O_PATH = 0o10000000

/** What is at a path below the target directory. */
export type TargetState =
  | { readonly state: 'absent' }
  /** a directory on the way to it is missing */
  | { readonly state: 'lost' }
  /** something on the way to it is no directory */
  | { readonly state: 'blocked' }
  | {
      readonly state: 'present'
      readonly type: FileType
      readonly mode: number
      readonly uid: number
      readonly gid: number
      readonly sizeBytes: number
      /** of a symlink */
      readonly target: string | null
    }

/**
 * A directory of the host that changes are applied to. It is held open, and every path below it is
 * walked component by component: no symlink in it is ever followed.
 */
export class TargetDirectory implements AsyncDisposable {
  readonly path: string
  readonly #root: FileHandle

  private constructor(path: string, root: FileHandle) {
    this.path = path
    this.#root = root
  }

  static async open(path: string): Promise<TargetDirectory> {
    try {
      return new TargetDirectory(path, await open(path, constants.O_DIRECTORY))
    } catch (error) {
      throw hostFailure(`cannot open ${quote(path)}`, error)
    }
  }

  async owner(): Promise<{ uid: number; gid: number }> {
    const { uid, gid } = await this.#root.stat()
    return { uid, gid }
  }

  /** Where `name` in this directory can be reached, also by a child process; for our own names. */
  own(name: string): string {
    return `/proc/${process.pid}/fd/${this.#root.fd}/${name}`
  }

  /** Runs `work` with a path that leads to `path` itself, while its parent is held open. */
  async at<T>(path: string, work: (place: Buffer) => Promise<T>): Promise<T> {
    const names = path.split('/')
    const last = names.pop() ?? ''
    let parent = this.#root
    try {
      for (const name of names) {
        const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW
        const next = await open(placeIn(parent, name), flags)
        if (parent !== this.#root) await parent.close()
        parent = next
      }
      return await work(placeIn(parent, last))
    } finally {
      if (parent !== this.#root) await parent.close()
    }
  }

  async inspect(path: string): Promise<TargetState> {
    try {
      return await this.at(path, inspectEntry)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return { state: 'lost' }
      if (code === 'ENOTDIR' || code === 'ELOOP') return { state: 'blocked' }
      throw error
    }
  }

  /** SHA-256 of a regular file. */
  digest(path: string): Promise<string> {
    return this.at(path, async (place) => {
      const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
      await using file = await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      const hash = createHash('sha256')
      for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk)
      return hash.digest('hex')
    })
  }

  children(path: string): Promise<string[]> {
    return this.at(path, async (place) => {
      const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
      await using directory = await open(place, flags)
      const names = await readdir(`/proc/self/fd/${directory.fd}`, 'buffer')
      return names.map(bytesToText)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#root.close()
  }
}

async function inspectEntry(place: Buffer): Promise<TargetState> {
  const info = await lstat(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (info === null) return { state: 'absent' }
  const target = info.isSymbolicLink() ? await readlink(place, 'buffer') : null
  const { mode, uid, gid, size } = info
  return {
    ...{ state: 'present', type: typeOf(info), mode: mode & 0o7777, uid, gid, sizeBytes: size },
    target: target && bytesToText(target),
  }
}

function placeIn(parent: FileHandle, name: string): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${parent.fd}/`), textToBytes(name)])
}

function typeOf(info: Awaited<ReturnType<typeof lstat>>): FileType {
  if (info.isFile()) return 'file'
  if (info.isDirectory()) return 'directory'
  if (info.isSymbolicLink()) return 'symlink'
  if (info.isFIFO()) return 'fifo'
  if (info.isSocket()) return 'socket'
  return info.isCharacterDevice() ? 'character-device' : 'block-device'
}
