import { randomBytes } from 'node:crypto'
import { type BigIntStats, closeSync, constants, readdirSync, readlinkSync } from 'node:fs'
import { open, readlink } from 'node:fs/promises'
import { posix, resolve } from 'node:path'
import { NotFoundError } from '../../../model/errors.ts'
import type { AgentConnection } from '../../wire/connection.ts'
import { bytesToText } from '../byte-text.ts'
import { type WriteOptions, writeContent } from '../file-content.ts'
import {
  checkPath,
  type FileOwner,
  makeDirectory,
  makeSymlink,
  removeFile,
  renameFile,
  setFileAttributes,
  statFile,
} from '../files.ts'
import { linkRefusal, openHostPlace, within } from '../host-path.ts'
import { EntryBatch, EntryFlag, EntryType } from './entry-batch.ts'
import { asHost, type HostEntry, holdToList, look } from './host-entry.ts'
import { Outstanding } from './outstanding.ts'
import { sendContent } from './send-content.ts'
import { readSmallFile } from './small-file.ts'
import { TransferLog, type TransferOptions, type TransferSummary } from './transfer.ts'
import { WorkPool } from './work-pool.ts'

export interface UploadOptions extends TransferOptions {
  /** The owner of the files inside; default root. */
  readonly owner?: FileOwner
}

interface Attributes extends FileOwner {
  readonly mode: number
  readonly mtimeNs: bigint
}

const ROOT: FileOwner = { uid: 0, gid: 0 }
/** Files that are sent before the agent has answered; small ones are written faster than an answer comes. */
const SENT_AHEAD = 64
/** With its path, such a file fits into a record. */
const BATCHED_BYTES = 40_960

/**
 * Copies a file or a tree of the host to `insidePath`, which names the copy itself. A new tree appears
 * inside when it is complete; files of an existing one are added or replaced. No symlink of the host is
 * followed: one from an earlier copy could lead to any file.
 */
export async function uploadTree(
  connection: AgentConnection,
  hostPath: string,
  insidePath: string,
  options: UploadOptions = {},
): Promise<TransferSummary> {
  checkPath(insidePath)
  const path = resolve(hostPath)
  await using from = await asHost('read', path, () => openHostPlace(path))
  const info = await asHost('read', path, () => look(from))
  if (info.isSymbolicLink()) throw await linkRefusal(path, path)
  const upload = new Upload(connection, options)
  if (info.isDirectory()) return await upload.tree(from, posix.normalize(insidePath), info)
  return await upload.single(from, posix.normalize(insidePath), info)
}

class Upload {
  readonly #connection: AgentConnection
  readonly #owner: FileOwner
  readonly #pool: WorkPool
  readonly #log: TransferLog
  /** Null if the agent is too old, and everything takes a stream of its own. */
  #batch: EntryBatch | null = null
  #flags = 0
  /** Set at the end, because writing into a directory changes its times. */
  readonly #directories: { readonly path: string; readonly attributes: Attributes }[] = []

  constructor(connection: AgentConnection, options: UploadOptions) {
    this.#connection = connection
    this.#owner = options.owner ?? ROOT
    this.#pool = new WorkPool(SENT_AHEAD, options.signal)
    this.#log = new TransferLog(options)
  }

  get #call(): { signal: AbortSignal } {
    return { signal: this.#pool.signal }
  }

  async single(from: HostEntry, to: string, info: BigIntStats): Promise<TransferSummary> {
    await this.#file(from, to, info)
    return this.#log.summary()
  }

  async tree(from: HostEntry, to: string, info: BigIntStats): Promise<TransferSummary> {
    const stage = await this.#stageFor(to)
    if (this.#connection.has('trees'))
      this.#batch = new EntryBatch(this.#connection, to, this.#call)
    this.#flags = stage === null ? 0 : EntryFlag.fresh
    try {
      await this.#directory(from, stage ?? to, info)
      await this.#pool.finish()
      await this.#finishDirectories()
      if (stage !== null) await renameFile(this.#connection, stage, to, this.#call)
    } catch (error) {
      this.#batch?.abandon()
      await this.#pool.abandon(error)
      if (stage !== null) await this.#discard(stage)
      throw error
    }
    return this.#log.summary()
  }

  /** Where to build a tree that does not exist yet; null to write into an existing one. */
  async #stageFor(to: string): Promise<string | null> {
    try {
      await statFile(this.#connection, to, { symlink: 'itself', ...this.#call })
      return null
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error
    }
    const parent = posix.dirname(to)
    await makeDirectory(this.#connection, parent, { parents: true, ...this.#call })
    return posix.join(parent, `.forkpoint-upload-${randomBytes(8).toString('hex')}`)
  }

  async #discard(stage: string): Promise<void> {
    // Without the caller's signal: an incomplete tree must be removed even after an abort. If that fails,
    // the caller still gets the first failure.
    const options = { recursive: true, force: true }
    await removeFile(this.#connection, stage, options).catch(() => {})
  }

  async #directory(from: HostEntry, to: string, info: BigIntStats): Promise<void> {
    if (this.#batch) await this.#batch.add({ path: to, type: EntryType.directory })
    else await makeDirectory(this.#connection, to, { parents: true, ...this.#call })
    this.#directories.push({ path: to, attributes: this.#attributes(info) })
    this.#log.count('directories')
    const { path } = from
    const parent = await asHost('list', path, async () =>
      holdToList(within(from.parent, from.name)),
    )
    const pending = new Outstanding()
    try {
      const all = `/proc/self/fd/${parent.fd}`
      const names = await asHost('list', path, async () => readdirSync(all, { encoding: 'buffer' }))
      for (const name of names.map(bytesToText)) {
        const entry = { parent, name, path: posix.join(path, name) }
        await this.#entry(entry, posix.join(to, name), pending)
      }
    } finally {
      // Files are read through the directory, so it closes after them. Nobody waits for that, so that small
      // directories do not wait for each other.
      if (pending.count === 0) closeSync(parent.fd)
      else void pending.all().finally(() => closeSync(parent.fd))
    }
  }

  async #entry(from: HostEntry, to: string, pending: Outstanding): Promise<void> {
    const info = await asHost('read', from.path, () => look(from))
    if (info.isDirectory()) return await this.#directory(from, to, info)
    if (!info.isSymbolicLink() && !info.isFile()) return this.#log.skip(from.path)
    if (this.#batch !== null && (await this.#batched(this.#batch, from, to, info))) return
    const job = () => (info.isFile() ? this.#file(from, to, info) : this.#symlink(from, to, info))
    pending.add((await this.#pool.start(job)).done)
  }

  /** Symlinks and small files need no stream of their own. False for all others. */
  async #batched(
    batch: EntryBatch,
    from: HostEntry,
    to: string,
    info: BigIntStats,
  ): Promise<boolean> {
    const place = within(from.parent, from.name)
    const common = { path: to, ...this.#attributes(info) }
    if (info.isSymbolicLink()) {
      const target = await asHost('read', from.path, async () => readlinkSync(place, 'buffer'))
      const { mode: _, ...link } = common
      await batch.add({ ...link, type: EntryType.symlink, target: bytesToText(target) })
      this.#log.count('symlinks')
      return true
    }
    if (info.size > BATCHED_BYTES) return false
    const content = await asHost('read', from.path, async () => readSmallFile(place, info))
    if (content === null) return false
    await batch.add({ ...common, type: EntryType.file, flags: this.#flags, content })
    this.#log.count('bytes', content.length)
    this.#log.count('files')
    return true
  }

  async #symlink({ parent, name, path }: HostEntry, to: string, info: BigIntStats): Promise<void> {
    const place = within(parent, name)
    const target = await asHost('read', path, () => readlink(place, { encoding: 'buffer' }))
    await removeFile(this.#connection, to, { force: true, ...this.#call })
    await makeSymlink(this.#connection, to, bytesToText(target), this.#call)
    const { mode: _, ...attributes } = this.#attributes(info)
    await setFileAttributes(this.#connection, to, attributes, this.#call)
    this.#log.count('symlinks')
  }

  async #file(from: HostEntry, to: string, seen: BigIntStats): Promise<void> {
    const options = { ...this.#attributes(seen), makeParents: true, ...this.#call }
    const small = await asHost('read', from.path, async () =>
      readSmallFile(within(from.parent, from.name), seen),
    )
    if (small === null) return await this.#largeFile(from, to, options)
    await writeContent(this.#connection, to, options, async (stream) => {
      if (small.length > 0) await stream.sendAt(0, small)
      return small.length
    })
    this.#log.count('bytes', small.length)
    this.#log.count('files')
  }

  async #largeFile(
    { parent, name, path }: HostEntry,
    to: string,
    options: WriteOptions,
  ): Promise<void> {
    // Non-blocking, because a pipe may have replaced the file; it is refused below.
    const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants
    const flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW
    await using file = await asHost('read', path, () => open(within(parent, name), flags))
    const info = await file.stat({ bigint: true })
    if (!info.isFile()) {
      this.#log.skip(path)
      return
    }
    await writeContent(this.#connection, to, options, (stream) =>
      asHost('read', path, () =>
        sendContent(file, info, stream, (bytes) => this.#log.count('bytes', bytes)),
      ),
    )
    this.#log.count('files')
  }

  async #finishDirectories(): Promise<void> {
    const batch = this.#batch
    for (const { path, attributes } of this.#directories.toReversed()) {
      if (batch !== null) {
        await batch.add({ path, ...attributes })
        continue
      }
      await this.#pool.start(() =>
        setFileAttributes(this.#connection, path, attributes, this.#call),
      )
    }
    await this.#pool.finish()
    await batch?.finish()
  }

  #attributes(info: BigIntStats): Attributes {
    return { mode: Number(info.mode & 0o7777n), mtimeNs: info.mtimeNs, ...this.#owner }
  }
}
