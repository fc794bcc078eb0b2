import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import { bytesToText } from '../../../agent/files/byte-text.ts'
import {
  holdDirectory,
  openDirectory,
  openHostDirectory,
  within,
} from '../../../agent/files/host-path.ts'
import { ConflictError } from '../../../model/errors.ts'
import type { FileKind } from '../../../model/files/file-change.ts'
import { quote } from '../../../model/text/quote.ts'
import { hostFailure } from '../host-failure.ts'
import { namesOf } from '../paths.ts'

/** What is at a path below the target directory. */
export type TargetState =
  | { readonly state: 'absent' }
  /** one of its parent directories is missing */
  | { readonly state: 'lost' }
  /** one of its parents is not a directory */
  | { readonly state: 'blocked' }
  | {
      readonly state: 'present'
      readonly type: FileKind
      readonly mode: number
      readonly uid: number
      readonly gid: number
      readonly sizeBytes: number
      readonly inode: string
      /** nanoseconds since 1970; nobody can set the second one */
      readonly mtimeNs: bigint
      readonly ctimeNs: bigint
      /** of a symlink */
      readonly target: string | null
    }

/** Identifies a directory while the machine runs. */
export interface Identity {
  readonly device: string
  readonly inode: string
}

/**
 * A directory of the host that changes are applied to. It is held open, and every path below it is
 * walked one name at a time, so no symlink in it is ever followed. The directories of the last path
 * stay open, so that sorted paths cost one step each. Use one path at a time.
 */
export class TargetDirectory implements AsyncDisposable {
  readonly path: string
  readonly root: FileHandle
  readonly identity: Identity
  readonly owner: { readonly uid: number; readonly gid: number }
  readonly #parents: { readonly name: string; readonly directory: FileHandle }[] = []

  private constructor(path: string, root: FileHandle, facts: Awaited<ReturnType<typeof look>>) {
    this.path = path
    this.root = root
    this.identity = facts.identity
    this.owner = facts.owner
  }

  static async open(given: string): Promise<TargetDirectory> {
    const path = resolve(given)
    try {
      const root = await openHostDirectory(path)
      return new TargetDirectory(path, root, await look(root))
    } catch (error) {
      throw hostFailure(`cannot open ${quote(path)}`, error)
    }
  }

  /** Runs `work` with a path that leads to `path` itself, and holds its parent open meanwhile. */
  async at<T>(path: string, work: (place: Buffer) => Promise<T>): Promise<T> {
    const names = namesOf(path)
    const last = names.pop() ?? ''
    return await work(within(await this.#parent(names), last))
  }

  /** Call it after something was moved to or from `path`: what was open there is no longer there. */
  async forget(path: string): Promise<void> {
    await this.#leave(namesOf(path).length - 1)
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

  /** SHA-256 of a regular file of this size; null if it is no longer one. */
  digest(path: string, sizeBytes: number): Promise<string | null> {
    return this.at(path, async (place) => {
      const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
      await using file = await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      const info = await file.stat()
      if (!info.isFile() || info.size !== sizeBytes) return null
      const hash = createHash('sha256')
      const options = { autoClose: false, start: 0, end: Math.max(0, sizeBytes - 1) }
      for await (const chunk of file.createReadStream(options)) hash.update(chunk)
      return hash.digest('hex')
    })
  }

  children(path: string): Promise<string[]> {
    return this.at(path, async (place) => {
      await using directory = await openDirectory(place)
      const names = await readdir(`/proc/self/fd/${directory.fd}`, 'buffer')
      return names.map(bytesToText)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave(0)
    await this.root.close()
  }

  async #parent(names: readonly string[]): Promise<FileHandle> {
    const shared = names.findIndex((name, depth) => this.#parents[depth]?.name !== name)
    await this.#leave(shared < 0 ? names.length : shared)
    for (const name of names.slice(this.#parents.length)) {
      const parent = this.#parents.at(-1)?.directory ?? this.root
      this.#parents.push({ name, directory: await holdDirectory(within(parent, name)) })
    }
    return this.#parents.at(-1)?.directory ?? this.root
  }

  async #leave(depth: number): Promise<void> {
    for (const { directory } of this.#parents.splice(depth)) await directory.close()
  }
}

async function look(root: FileHandle) {
  const { dev, ino, uid, gid } = await root.stat({ bigint: true })
  return {
    identity: { device: String(dev), inode: String(ino) },
    owner: { uid: Number(uid), gid: Number(gid) },
  }
}

async function inspectEntry(place: Buffer): Promise<TargetState> {
  const info = await lstat(place, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (info === null) return { state: 'absent' }
  const target = info.isSymbolicLink() ? await readlink(place, 'buffer') : null
  return {
    state: 'present',
    type: typeOf(info),
    mode: Number(info.mode) & 0o7777,
    uid: Number(info.uid),
    gid: Number(info.gid),
    sizeBytes: Number(info.size),
    inode: String(info.ino),
    mtimeNs: info.mtimeNs,
    ctimeNs: info.ctimeNs,
    target: target && bytesToText(target),
  }
}

/** What kind of entry this is. */
export function typeOf(info: Pick<Awaited<ReturnType<typeof lstat>>, TypeTest>): FileKind {
  if (info.isFile()) return 'file'
  if (info.isDirectory()) return 'directory'
  if (info.isSymbolicLink()) return 'symlink'
  if (info.isFIFO()) return 'fifo'
  if (info.isSocket()) return 'socket'
  return info.isCharacterDevice() ? 'character-device' : 'block-device'
}

type TypeTest =
  | 'isFile'
  | 'isDirectory'
  | 'isSymbolicLink'
  | 'isFIFO'
  | 'isSocket'
  | 'isCharacterDevice'

/** Symlinks in the root directory are followed as the machine's own; see agent/files/host-path.ts. */
export async function requireNoRootLinks(
  directory: TargetDirectory,
  links: readonly string[],
): Promise<void> {
  const top = links.find((path) => !path.includes('/'))
  if (top === undefined) return
  await using root = await openHostDirectory('/')
  const { identity } = await look(root)
  const isRoot =
    identity.device === directory.identity.device && identity.inode === directory.identity.inode
  if (!isRoot) return
  throw new ConflictError(`cannot make the symlink ${quote(`/${top}`)}`, {
    remedy: 'export to another directory: Forkpoint puts no symlinks into the root directory',
  })
}
