import {
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  lutimesSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeSync,
} from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { hostRefusal } from '../../failures.ts'
import { textToBytes } from '../byte-text.ts'
import { within } from '../host-path.ts'

const { O_CREAT, O_EXCL, O_WRONLY, O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
const newFile = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW

interface Attributes {
  readonly mode: number
  readonly mtimeSeconds: number
}

/**
 * A directory of a tree that is not in its place yet, and that only its owner may enter. Nothing in it exists
 * before, so files need no detour over a temporary name. Like `HostDirectory`, it is held open and never
 * written to through a symlink. Small files are written at once: through the thread pool, each of these calls
 * takes twenty times as long (measured).
 */
export class StagedDirectory {
  /** For messages. */
  readonly path: string
  readonly #fd: number

  private constructor(path: string, fd: number) {
    this.path = path
    this.#fd = fd
  }

  static open(path: string, place: Buffer): StagedDirectory {
    return new StagedDirectory(path, openSync(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
  }

  make(name: string): StagedDirectory {
    return this.#do('make directory', name, (place) => {
      mkdirSync(place, 0o700)
      return StagedDirectory.open(join(this.path, name), place)
    })
  }

  writeFile(name: string, content: Buffer, { mode, mtimeSeconds }: Attributes): void {
    this.#do('write', name, (place) => {
      const fd = openSync(place, newFile, 0o600)
      try {
        for (let at = 0; at < content.length; ) at += writeSync(fd, content, at)
        fchmodSync(fd, mode)
        futimesSync(fd, mtimeSeconds, mtimeSeconds)
      } finally {
        closeSync(fd)
      }
    })
  }

  /** For a large file, whose content arrives in pieces. */
  async putFile(name: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
    try {
      await using file = await open(within({ fd: this.#fd }, name), newFile, 0o600)
      await write(file)
    } catch (error) {
      throw this.#refusal('write', name, error)
    }
  }

  makeSymlink(name: string, target: string, mtimeSeconds: number): void {
    this.#do('write', name, (place) => {
      symlinkSync(textToBytes(target), place)
      lutimesSync(place, mtimeSeconds, mtimeSeconds)
    })
  }

  setAttributes({ mode, mtimeSeconds }: Attributes): void {
    fchmodSync(this.#fd, mode)
    futimesSync(this.#fd, mtimeSeconds, mtimeSeconds)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #do<T>(verb: string, name: string, work: (place: Buffer) => T): T {
    try {
      return work(within({ fd: this.#fd }, name))
    } catch (error) {
      throw this.#refusal(verb, name, error)
    }
  }

  #refusal(verb: string, name: string, error: unknown): unknown {
    return hostRefusal({ verb, subject: join(this.path, name) }, error)
  }
}
