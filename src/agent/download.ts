import { randomBytes } from 'node:crypto'
import { type FileHandle, stat } from 'node:fs/promises'
import { basename, dirname, posix, resolve } from 'node:path'
import { ConflictError, InvalidInputError, ResourceError } from '../model/errors.ts'
import type { AgentConnection } from './connection.ts'
import { openContent } from './file-content.ts'
import { checkPath, eachFile, type FileEntry, type FileInfo, statFile } from './files.ts'
import { HostDirectory } from './host-directory.ts'
import {
  FILES_IN_FLIGHT,
  TransferLog,
  type TransferOptions,
  type TransferSummary,
} from './transfer.ts'
import { WorkPool } from './work-pool.ts'

/** A directory is held open while its content comes; hostile depth must not use up our files. */
const MAX_DEPTH = 200
/** Setuid and setgid from inside mean nothing good outside. */
const KEPT_FILE_BITS = 0o777
const KEPT_DIRECTORY_BITS = 0o1777

/**
 * Copies a file or a tree from inside to `hostPath`, which names the copy itself. A tree that is
 * new on the host appears there at once, when it is complete; one that is there is merged into.
 * The copies are the caller's own, and no symlink below `hostPath` is ever followed.
 */
export async function downloadTree(
  connection: AgentConnection,
  insidePath: string,
  hostPath: string,
  options: TransferOptions = {},
): Promise<TransferSummary> {
  const from = posix.normalize(checkPath(insidePath))
  const info = await statFile(connection, from, options)
  const to = resolve(hostPath)
  const download = new Download(connection, options)
  if (info.type === 'directory') return await download.tree(from, to, info)
  if (info.type === 'file') return await download.single(from, to)
  throw new InvalidInputError(`cannot download ${insidePath}: it is neither file nor directory`)
}

class Download {
  readonly #connection: AgentConnection
  readonly #pool: WorkPool
  readonly #log: TransferLog

  constructor(connection: AgentConnection, options: TransferOptions) {
    this.#connection = connection
    this.#pool = new WorkPool(FILES_IN_FLIGHT, options.signal)
    this.#log = new TransferLog(options)
  }

  async single(from: string, to: string): Promise<TransferSummary> {
    if (await isDirectory(to)) {
      throw new ConflictError(`cannot download a file to ${to}: a directory is there`, {
        remedy: `name the file itself, such as ${posix.join(to, basename(from))}`,
      })
    }
    await using parent = await HostDirectory.open(dirname(to))
    await this.#file(from, parent, basename(to))
    return this.#log.summary()
  }

  async tree(from: string, to: string, info: FileInfo): Promise<TransferSummary> {
    if (await isDirectory(to)) {
      const there = await HostDirectory.open(to)
      await this.#run(() => this.#directory(from, there, null, 0))
      return this.#log.summary()
    }
    await using parent = await HostDirectory.open(dirname(to))
    const stage = `.forkpoint-download-${randomBytes(8).toString('hex')}`
    try {
      const staged = await parent.enter(stage)
      await this.#run(() => this.#directory(from, staged, info, 0))
      await parent.rename(stage, basename(to))
    } catch (error) {
      await parent.removeTree(stage)
      throw error
    }
    return this.#log.summary()
  }

  /** Runs `walk` and everything it started; after a failure nothing is running any more. */
  async #run(walk: () => Promise<Finish>): Promise<void> {
    try {
      const { done } = await walk()
      await done
      await this.#pool.finish()
    } catch (error) {
      await this.#pool.abandon(error)
      throw error
    }
  }

  /**
   * Fetches the content of `from` into `to`, which it then owns. Returns when everything was
   * started, so that small directories do not wait for each other.
   */
  async #directory(
    from: string,
    to: HostDirectory,
    info: FileInfo | null,
    depth: number,
  ): Promise<Finish> {
    const pending: Promise<void>[] = []
    try {
      for (const entry of await this.#startFiles(from, to, pending)) {
        const path = posix.join(from, entry.name)
        if (depth === MAX_DEPTH) throw tooDeep(path)
        const below = await to.enter(entry.name)
        pending.push((await this.#directory(path, below, entry, depth + 1)).done)
      }
    } catch (error) {
      await this.#pool.abandon(error)
      await Promise.allSettled(pending)
      await to[Symbol.asyncDispose]()
      throw error
    }
    this.#log.count('directories')
    const done = this.#finish(to, info, pending)
    // The failure is seen by whoever waits for the parent; until then it must not be unhandled.
    done.catch(() => {})
    // An empty directory is finished at once, so that open ones cannot pile up.
    if (pending.length === 0) await done
    return { done }
  }

  /** Starts fetching everything in `from` but directories, which it returns. */
  async #startFiles(
    from: string,
    to: HostDirectory,
    pending: Promise<void>[],
  ): Promise<FileEntry[]> {
    const directories: FileEntry[] = []
    for await (const entry of eachFile(this.#connection, from, { signal: this.#pool.signal })) {
      const path = posix.join(from, entry.name)
      if (entry.type === 'directory') directories.push(entry)
      else if (entry.type === 'other') this.#log.skip(path)
      else {
        const { done } = await this.#pool.start(() =>
          entry.type === 'symlink' ? this.#symlink(entry, to) : this.#file(path, to, entry.name),
        )
        pending.push(done)
      }
    }
    return directories
  }

  async #finish(
    directory: HostDirectory,
    info: FileInfo | null,
    pending: readonly Promise<void>[],
  ): Promise<void> {
    await using closing = directory
    await Promise.all(pending)
    if (info === null || this.#pool.signal.aborted) return
    await closing.setAttributes(info.mode & KEPT_DIRECTORY_BITS, seconds(info.mtimeNs))
  }

  async #symlink(entry: FileEntry, to: HostDirectory): Promise<void> {
    await to.putSymlink(entry.name, entry.target ?? '', seconds(entry.mtimeNs))
    this.#log.count('symlinks')
  }

  async #file(from: string, to: HostDirectory, name: string): Promise<void> {
    await to.putFile(name, async (file) => {
      const content = openContent(this.#connection, from, { signal: this.#pool.signal })
      for await (const { offset, bytes } of content.runs) {
        await writeFully(file, bytes, offset)
        this.#log.count('bytes', bytes.length)
      }
      const { sizeBytes, mode, mtimeNs } = await content.end
      await file.truncate(sizeBytes)
      await file.chmod(mode & KEPT_FILE_BITS)
      await file.utimes(seconds(mtimeNs), seconds(mtimeNs))
    })
    this.#log.count('files')
  }
}

/** Boxed, because a promise of a promise would be waited for as one. */
interface Finish {
  readonly done: Promise<void>
}

async function writeFully(file: FileHandle, bytes: Buffer, offset: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, offset + at)
    at += bytesWritten
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}

/** Node sets times as a number of seconds, exact to a quarter of a microsecond. */
function seconds(ns: bigint): number {
  return Number(ns) / 1e9
}

function tooDeep(path: string): ResourceError {
  return new ResourceError(`cannot download ${path}: more than ${MAX_DEPTH} directories deep`, {
    remedy: 'download a part of the tree, or pack it inside and download the archive',
  })
}
