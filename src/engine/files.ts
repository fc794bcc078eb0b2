import type { AgentConnection, CallOptions } from '../agent/connection.ts'
import { downloadTree } from '../agent/download.ts'
import {
  type FileData,
  type ReadAllOptions,
  type ReadOptions,
  readFile,
  streamFile,
  type WriteOptions,
  writeFile,
} from '../agent/file-content.ts'
import { type FileWatch, type WatchOptions, watchFiles } from '../agent/file-watch.ts'
import {
  type FileEntry,
  type FileInfo,
  listFiles,
  type MkdirOptions,
  makeDirectory,
  makeSymlink,
  type RemoveOptions,
  removeFile,
  renameFile,
  type StatOptions,
  statFile,
} from '../agent/files.ts'
import type { TransferOptions, TransferSummary } from '../agent/transfer.ts'
import { type UploadOptions, uploadTree } from '../agent/upload.ts'

/**
 * Files inside an environment. Paths are absolute.
 *
 * @example
 * await env.files.write('/app/config.json', JSON.stringify({ debug: true }), { makeParents: true })
 * const text = (await env.files.read('/app/config.json')).toString()
 */
export class EnvironmentFiles {
  readonly #connect: () => Promise<AgentConnection>

  /** Made by `Environment`. */
  constructor(connect: () => Promise<AgentConnection>) {
    this.#connect = connect
  }

  async read(path: string, options?: ReadAllOptions): Promise<Buffer> {
    return readFile(await this.#connect(), path, options)
  }

  /** The content in chunks, for files that memory should not hold. */
  async *stream(path: string, options?: ReadOptions): AsyncGenerator<Buffer, void, undefined> {
    yield* streamFile(await this.#connect(), path, options)
  }

  /** Replaces the file at once when all of it has arrived. */
  async write(path: string, data: FileData, options?: WriteOptions): Promise<void> {
    await writeFile(await this.#connect(), path, data, options)
  }

  async list(path: string, options?: CallOptions): Promise<FileEntry[]> {
    return listFiles(await this.#connect(), path, options)
  }

  async stat(path: string, options?: StatOptions): Promise<FileInfo> {
    return statFile(await this.#connect(), path, options)
  }

  async mkdir(path: string, options?: MkdirOptions): Promise<void> {
    await makeDirectory(await this.#connect(), path, options)
  }

  async symlink(target: string, path: string, options?: CallOptions): Promise<void> {
    await makeSymlink(await this.#connect(), path, target, options)
  }

  async rename(from: string, to: string, options?: CallOptions): Promise<void> {
    await renameFile(await this.#connect(), from, to, options)
  }

  async remove(path: string, options?: RemoveOptions): Promise<void> {
    await removeFile(await this.#connect(), path, options)
  }

  /** Copies a file or tree of the host to `insidePath`, which names the copy. */
  async upload(
    hostPath: string,
    insidePath: string,
    options?: UploadOptions,
  ): Promise<TransferSummary> {
    return uploadTree(await this.#connect(), hostPath, insidePath, options)
  }

  /** Copies a file or tree from inside to `hostPath`, which names the copy. */
  async download(
    insidePath: string,
    hostPath: string,
    options?: TransferOptions,
  ): Promise<TransferSummary> {
    return downloadTree(await this.#connect(), insidePath, hostPath, options)
  }

  /** Changes from now on, until the watch is closed. */
  async watch(path: string, options?: WatchOptions): Promise<FileWatch> {
    return watchFiles(await this.#connect(), path, options)
  }
}
