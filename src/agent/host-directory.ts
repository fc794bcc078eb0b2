import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import {
  type FileHandle,
  lutimes,
  mkdir,
  open,
  rename,
  rm,
  symlink,
  unlink,
} from 'node:fs/promises'
import { ConflictError } from '../model/errors.ts'
import { textToBytes } from './byte-text.ts'
import { hostRefusal, printable } from './failures.ts'

/**
 * A directory of the host that is written into with names from inside. It is held open and
 * reached through /proc/self/fd, as `openat` would: whatever a path component is replaced with
 * meanwhile, nothing is ever written through a symlink.
 */
export class HostDirectory implements AsyncDisposable {
  /** For messages. */
  readonly path: string
  readonly #handle: FileHandle

  private constructor(path: string, handle: FileHandle) {
    this.path = path
    this.#handle = handle
  }

  /** Opens a directory that the caller named, symlinks and all. */
  static async open(path: string): Promise<HostDirectory> {
    try {
      const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
      return new HostDirectory(path, handle)
    } catch (error) {
      throw hostRefusal({ verb: 'open directory', subject: path }, error)
    }
  }

  /** The directory `name` in this one, made if it is not there; a symlink there is refused. */
  async enter(name: string): Promise<HostDirectory> {
    const path = `${this.path}/${name}`
    try {
      await mkdir(this.#at(name), 0o700)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw this.#refusal('make directory', name, error)
    }
    try {
      const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
      return new HostDirectory(path, await open(this.#at(name), flags))
    } catch (cause) {
      if (!hasCode(cause, 'ENOTDIR') && !hasCode(cause, 'ELOOP')) {
        throw this.#refusal('open directory', name, cause)
      }
      throw new ConflictError(`cannot write into ${printable(path)}: it is not a directory`, {
        cause,
        remedy: 'move the file or symlink there out of the way; symlinks are never followed',
      })
    }
  }

  /** Writes the file `name` beside its place and moves it there when `write` is done. */
  async putFile(name: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
    await this.#put(name, async (beside) => {
      const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants
      await using file = await open(beside, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600)
      await write(file)
    })
  }

  async putSymlink(name: string, target: string, mtimeSeconds: number): Promise<void> {
    await this.#put(name, async (beside) => {
      await symlink(textToBytes(target), beside)
      await lutimes(beside, mtimeSeconds, mtimeSeconds)
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

  async removeTree(name: string): Promise<void> {
    await rm(this.#at(name).toString(), { recursive: true, force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }

  async #put(name: string, make: (beside: Buffer) => Promise<void>): Promise<void> {
    const beside = this.#at(`.forkpoint-${randomBytes(8).toString('hex')}`)
    try {
      await make(beside)
      await rename(beside, this.#at(name))
    } catch (error) {
      await unlink(beside).catch(() => {})
      throw this.#refusal('write', name, error)
    }
  }

  #at(name: string): Buffer {
    return Buffer.concat([Buffer.from(`/proc/self/fd/${this.#handle.fd}/`), textToBytes(name)])
  }

  #refusal(verb: string, name: string, error: unknown): unknown {
    return hostRefusal({ verb, subject: `${this.path}/${name}` }, error)
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
