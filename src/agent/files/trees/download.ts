import { randomBytes } from 'node:crypto'
import { basename, posix, resolve } from 'node:path'
import { ConflictError, InvalidInputError } from '../../../model/errors.ts'
import type { AgentConnection } from '../../wire/connection.ts'
import { openContent } from '../file-content.ts'
import { checkPath, eachFile, type FileEntry, type FileInfo, statFile } from '../files.ts'
import { HostDirectory } from '../host-directory.ts'
import {
  KEPT_DIRECTORY_BITS,
  KEPT_FILE_BITS,
  MAX_DEPTH,
  MAX_ENTRIES,
  MAX_HELD,
  seconds,
  tooDeep,
  tooMany,
  writeFully,
} from './download-limits.ts'
import { Outstanding } from './outstanding.ts'
import { receiveTree, type TreeReceiver } from './receive-tree.ts'
import type { StagedDirectory } from './staged-directory.ts'
import {
  FILES_IN_FLIGHT,
  TransferLog,
  type TransferOptions,
  type TransferSummary,
} from './transfer.ts'
import { WorkPool } from './work-pool.ts'

/**
 * Copies a file or a tree from inside to `hostPath`, which names the copy itself. A new tree appears on
 * the host when it is complete; files of an existing one are added or replaced. The copies belong to the
 * caller, and no symlink of the host is followed (host-path.ts).
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
  throw new InvalidInputError(`cannot download ${insidePath}: neither a file nor a directory`, {
    remedy: 'download a file or a directory; sockets, pipes and devices cannot be copied',
  })
}

class Download {
  readonly #connection: AgentConnection
  readonly #pool: WorkPool
  readonly #log: TransferLog
  #entries = 0

  constructor(connection: AgentConnection, options: TransferOptions) {
    this.#connection = connection
    this.#pool = new WorkPool(FILES_IN_FLIGHT, options.signal)
    this.#log = new TransferLog(options)
  }

  async single(from: string, to: string): Promise<TransferSummary> {
    const { parent, name } = await HostDirectory.openParent(to)
    await using _closing = parent
    if (await parent.hasDirectory(name)) {
      throw new ConflictError(`cannot download a file to ${to}: it is a directory`, {
        remedy: `name the file itself, such as ${posix.join(to, basename(from))}`,
      })
    }
    await this.#file(from, parent, name)
    return this.#log.summary()
  }

  async tree(from: string, to: string, info: FileInfo): Promise<TransferSummary> {
    const { parent, name } = await HostDirectory.openParent(to)
    await using _closing = parent
    if (await parent.hasDirectory(name)) {
      const existing = await parent.enter(name)
      await this.#run(() => this.#directory(from, existing, null, 0))
      return this.#log.summary()
    }
    const stage = `.forkpoint-download-${randomBytes(16).toString('hex')}`
    const staged = await parent.make(stage)
    try {
      if (this.#connection.has('trees')) {
        await staged[Symbol.asyncDispose]()
        await this.#run(() => this.#wholeTree(from, parent.stage(stage), info))
      } else {
        await this.#run(() => this.#directory(from, staged, info, 0))
      }
      await parent.rename(stage, name)
    } catch (error) {
      await parent.removeTree(stage)
      throw error
    }
    return this.#log.summary()
  }

  /** Runs `walk` and everything it starts; after a failure nothing is left running. */
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

  /** The same as `#directory`, over one stream for everything that is small. */
  async #wholeTree(from: string, to: StagedDirectory, info: FileInfo): Promise<Finish> {
    const { signal } = this.#pool
    const receiver: TreeReceiver = {
      signal,
      bound: (path, depth) => {
        this.#bound(path, 0)
        if (depth > MAX_DEPTH) throw tooDeep(path)
      },
      file: (directory, { name, mode, mtimeNs }, content) => {
        const attributes = { mode: mode & KEPT_FILE_BITS, mtimeSeconds: seconds(mtimeNs) }
        directory.writeFile(name, content, attributes)
        this.#log.count('bytes', content.length)
        this.#log.count('files')
      },
      largeFile: (directory, { name, path }) =>
        this.#pool.start(() => this.#file(posix.join(from, path), directory, name)),
      symlink: (directory, { name, target, mtimeNs }) => {
        directory.makeSymlink(name, target ?? '', seconds(mtimeNs))
        this.#log.count('symlinks')
      },
      other: (path) => this.#log.skip(posix.join(from, path)),
      abandon: (error) => this.#pool.abandon(error),
      finish: (directory, { mode, mtimeNs }) => {
        const mtimeSeconds = seconds(mtimeNs)
        directory.setAttributes({ mode: mode & KEPT_DIRECTORY_BITS, mtimeSeconds })
        this.#log.count('directories')
      },
    }
    await receiveTree(this.#connection, from, { directory: to, info }, receiver)
    return { done: Promise.resolve() }
  }

  /**
   * Fetches the content of `from` into `to`, which it then owns. Returns when everything has
   * started, so that small directories do not wait for each other.
   */
  async #directory(
    from: string,
    to: HostDirectory,
    info: FileInfo | null,
    depth: number,
  ): Promise<Finish> {
    const pending = new Outstanding()
    try {
      for (const entry of await this.#startFiles(from, to, pending)) {
        const path = posix.join(from, entry.name)
        if (depth === MAX_DEPTH) throw tooDeep(path)
        const below = await to.enter(entry.name)
        pending.add((await this.#directory(path, below, entry, depth + 1)).done)
      }
    } catch (error) {
      await this.#pool.abandon(error)
      // The first failure is thrown below; others followed from it.
      await pending.all().catch(() => {})
      await to[Symbol.asyncDispose]()
      throw error
    }
    this.#log.count('directories')
    const done = this.#finish(to, info, pending)
    // Whoever waits for the parent sees the failure; until then it must not be unhandled.
    done.catch(() => {})
    // An empty directory is finished immediately, so that open ones cannot pile up.
    if (pending.count === 0) await done
    return { done }
  }

  /** Starts fetching everything in `from` except directories, which it returns. */
  async #startFiles(from: string, to: HostDirectory, pending: Outstanding): Promise<FileEntry[]> {
    const directories: FileEntry[] = []
    for await (const entry of eachFile(this.#connection, from, { signal: this.#pool.signal })) {
      const path = posix.join(from, entry.name)
      this.#bound(path, directories.length)
      if (entry.type === 'directory') directories.push(entry)
      else if (entry.type === 'other') this.#log.skip(path)
      else {
        const { done } = await this.#pool.start(() =>
          entry.type === 'symlink' ? this.#symlink(entry, to) : this.#file(path, to, entry.name),
        )
        pending.add(done)
      }
    }
    return directories
  }

  /** A hostile agent may list names without end. */
  #bound(path: string, held: number): void {
    this.#entries += 1
    if (this.#entries > MAX_ENTRIES) throw tooMany(path, `${MAX_ENTRIES} files`)
    if (held > MAX_HELD) throw tooMany(path, `${MAX_HELD} directories in one`)
  }

  async #finish(
    directory: HostDirectory,
    info: FileInfo | null,
    pending: Outstanding,
  ): Promise<void> {
    await using closing = directory
    await pending.all()
    if (info === null || this.#pool.signal.aborted) return
    await closing.setAttributes(info.mode & KEPT_DIRECTORY_BITS, seconds(info.mtimeNs))
  }

  async #symlink(entry: FileEntry, to: HostDirectory): Promise<void> {
    await to.putSymlink(entry.name, entry.target ?? '', seconds(entry.mtimeNs))
    this.#log.count('symlinks')
  }

  async #file(from: string, to: FileTarget, name: string): Promise<void> {
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

type FileTarget = Pick<HostDirectory, 'putFile'>

/** Boxed, because `await` would also wait for a promise inside a promise. */
interface Finish {
  readonly done: Promise<void>
}
