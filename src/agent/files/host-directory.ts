import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import {
  type FileHandle,
  lstat,
  lutimes,
  mkdir,
  open,
  rename,
  stat,
  symlink,
  unlink,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConflictError } from '../../model/errors.ts'
import { hostRefusal, printable } from '../failures.ts'
import { textToBytes } from './byte-text.ts'
import { linkRefusal, openDirectory, openHostPlace, within } from './host-path.ts'
import { removeHostTree } from './host-tree.ts'
import { StagedDirectory } from './trees/staged-directory.ts'

/**
 * A directory of the host that is written to with names from inside. It is held open and
 * reached through /proc/self/fd, as `openat` would: whatever replaces a path component
 * in the meantime, nothing is ever written through a symlink.
 */
export class HostDirectory implements AsyncDisposable {
  /** For messages. */
  readonly path: string
  readonly #handle: FileHandle

  private constructor(path: string, handle: FileHandle) {
    this.path = path
    this.#handle = handle
  }

  /** Opens the directory that `path` is in, and returns its name in it. */
  static async openParent(path: string): Promise<{ parent: HostDirectory; name: string }> {
    try {
      const place = await openHostPlace(path)
      return { parent: new HostDirectory(dirname(place.path), place.parent), name: place.name }
    } catch (error) {
      throw hostRefusal({ verb: 'open directory', subject: dirname(path) }, error)
    }
  }

  /**
   * Whether `name` is a directory. A symlink to one is refused: it may have come from
   * inside, and could lead anywhere.
   */
  async hasDirectory(name: string): Promise<boolean> {
    // An entry that cannot be looked at is not a directory; writing to it then reports why.
    const found = await lstat(this.#at(name)).catch(() => null)
    if (!found?.isSymbolicLink()) return found?.isDirectory() === true
    const target = await stat(this.#at(name)).catch(() => null)
    const path = join(this.path, name)
    if (target?.isDirectory()) throw await linkRefusal(path, path)
    return false
  }

  /** The directory `name`, which must not exist yet. */
  async make(name: string): Promise<HostDirectory> {
    try {
      await mkdir(this.#at(name), 0o700)
      return new HostDirectory(join(this.path, name), await openDirectory(this.#at(name)))
    } catch (error) {
      throw this.#refusal('make directory', name, error)
    }
  }

  /** The directory `name` in this one, made if it does not exist; a symlink is refused. */
  async enter(name: string): Promise<HostDirectory> {
    const path = join(this.path, name)
    try {
      await mkdir(this.#at(name), 0o700)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw this.#refusal('make directory', name, error)
    }
    try {
      return new HostDirectory(path, await openDirectory(this.#at(name)))
    } catch (cause) {
      if (!hasCode(cause, 'ENOTDIR') && !hasCode(cause, 'ELOOP')) {
        throw this.#refusal('open directory', name, cause)
      }
      throw new ConflictError(`cannot write into ${printable(path)}: it is not a directory`, {
        cause,
        remedy: 'move that file or symlink out of the way; symlinks are never followed',
      })
    }
  }

  /** Writes the file under a temporary name and renames it to `name` when `write` is done. */
  async putFile(name: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
    await this.#put(name, async (draft) => {
      const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants
      await using file = await open(draft, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600)
      await write(file)
    })
  }

  async putSymlink(name: string, target: string, mtimeSeconds: number): Promise<void> {
    if (this.path === '/') throw rootLinkRefusal(name)
    await this.#put(name, async (draft) => {
      await symlink(textToBytes(target), draft)
      await lutimes(draft, mtimeSeconds, mtimeSeconds)
    })
  }

  async setAttributes(mode: number, mtimeSeconds: number): Promise<void> {
    await this.#handle.chmod(mode)
    await this.#handle.utimes(mtimeSeconds, mtimeSeconds)
  }

  async rename(from: string, to: string): Promise<void> {
    try {
      await rename(this.#at(from), this.#at(to))
    } catch (error) {
      throw this.#refusal('write', to, error)
    }
  }

  /** The directory `name`, as a place to build a tree in. */
  stage(name: string): StagedDirectory {
    return StagedDirectory.open(join(this.path, name), this.#at(name))
  }

  async removeTree(name: string): Promise<void> {
    await removeHostTree(this.#handle, name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }

  async #put(name: string, make: (draft: Buffer) => Promise<void>): Promise<void> {
    const draft = this.#at(`.forkpoint-${randomBytes(8).toString('hex')}`)
    try {
      await make(draft)
      await rename(draft, this.#at(name))
    } catch (error) {
      // The draft may not exist yet; the first failure is the one to report.
      await unlink(draft).catch(() => {})
      throw this.#refusal('write', name, error)
    }
  }

  #at(name: string): Buffer {
    return within(this.#handle, name)
  }

  #refusal(verb: string, name: string, error: unknown): unknown {
    return hostRefusal({ verb, subject: join(this.path, name) }, error)
  }
}

/** Symlinks in the root directory are trusted as the machine's own: see host-path.ts. */
export function rootLinkRefusal(name: string): ConflictError {
  return new ConflictError(`cannot make the symlink /${printable(name)}`, {
    remedy: 'copy to another directory: copies may not put symlinks into the root directory',
  })
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
