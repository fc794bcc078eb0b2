import { posix, resolve } from 'node:path'
import {
  type FileData,
  type ReadAllOptions,
  type ReadOptions,
  readFile,
  streamFile,
  type WriteOptions,
  writeFile,
} from '../../agent/files/file-content.ts'
import { type FileWatch, type WatchOptions, watchFiles } from '../../agent/files/file-watch.ts'
import {
  type FileEntry,
  type FileInfo,
  type ListFilesOptions,
  listFiles,
  type MkdirOptions,
  makeDirectory,
  makeSymlink,
  type RemoveOptions,
  removeFile,
  renameFile,
  type StatOptions,
  statFile,
} from '../../agent/files/files.ts'
import { downloadTree } from '../../agent/files/trees/download.ts'
import type { TransferOptions, TransferSummary } from '../../agent/files/trees/transfer.ts'
import { type UploadOptions, uploadTree } from '../../agent/files/trees/upload.ts'
import type { AgentConnection, CallOptions } from '../../agent/wire/connection.ts'
import { noteOf } from '../host/apply/copied-tree.ts'
import { checked } from '../inputs/checked.ts'
import { data } from '../inputs/data.ts'
import {
  callInput,
  downloadInput,
  listInput,
  mkdirInput,
  readInput,
  removeInput,
  statInput,
  streamInput,
  uploadInput,
  watchInput,
  writeInput,
} from '../inputs/file-inputs.ts'
import { absolutePath, path as anyPath } from '../inputs/values.ts'

/** A directory of the host that was copied in. */
export interface Copied {
  /** where it went, inside */
  readonly path: string
  /** what it was like on the host */
  readonly note: string
}

/**
 * Files inside an environment. Paths are absolute.
 *
 * @example
 * await env.files.write('/app/config.json', JSON.stringify({ debug: true }), { makeParents: true })
 * const text = (await env.files.read('/app/config.json')).toString()
 */
export class EnvironmentFiles {
  readonly #connect: () => Promise<AgentConnection>
  readonly #noteCopy: (copy: Copied) => Promise<void>

  /** Made by `Environment`. */
  constructor(connect: () => Promise<AgentConnection>, noteCopy: (copy: Copied) => Promise<void>) {
    this.#connect = connect
    this.#noteCopy = noteCopy
  }

  async read(path: string, options: ReadAllOptions = {}): Promise<Buffer> {
    const wanted = checked('read', readInput, options)
    return readFile(await this.#connect(), inside('read', path), wanted)
  }

  /** Yields the content in chunks, for files that do not fit in memory. */
  async *stream(path: string, options: ReadOptions = {}): AsyncGenerator<Buffer, void, undefined> {
    const wanted = checked('stream', streamInput, options)
    yield* streamFile(await this.#connect(), inside('stream', path), wanted)
  }

  /** Replaces the file atomically, when all of the content has arrived. */
  async write(path: string, given: FileData, options: WriteOptions = {}): Promise<void> {
    const wanted = checked('write', writeInput, options)
    const content = checked('write', data, given)
    await writeFile(await this.#connect(), inside('write', path), content, wanted)
  }

  async list(path: string, options: ListFilesOptions = {}): Promise<FileEntry[]> {
    const wanted = checked('list', listInput, options)
    return listFiles(await this.#connect(), inside('list', path), wanted)
  }

  async stat(path: string, options: StatOptions = {}): Promise<FileInfo> {
    const wanted = checked('stat', statInput, options)
    return statFile(await this.#connect(), inside('stat', path), wanted)
  }

  async mkdir(path: string, options: MkdirOptions = {}): Promise<void> {
    const wanted = checked('mkdir', mkdirInput, options)
    await makeDirectory(await this.#connect(), inside('mkdir', path), wanted)
  }

  async symlink(target: string, path: string, options: CallOptions = {}): Promise<void> {
    const [place, content] = [inside('symlink', path), checked('symlink', anyPath, target)]
    const wanted = checked('symlink', callInput, options)
    await makeSymlink(await this.#connect(), place, content, wanted)
  }

  async rename(from: string, to: string, options: CallOptions = {}): Promise<void> {
    const [old, next] = [inside('rename', from), inside('rename', to)]
    const wanted = checked('rename', callInput, options)
    await renameFile(await this.#connect(), old, next, wanted)
  }

  async remove(path: string, options: RemoveOptions = {}): Promise<void> {
    const wanted = checked('remove', removeInput, options)
    await removeFile(await this.#connect(), inside('remove', path), wanted)
  }

  /**
   * Copies a file or tree from the host to `insidePath`, which names the copy. What a tree was like is noted, so that
   * `env.apply` can tell later what changed.
   */
  async upload(
    hostPath: string,
    insidePath: string,
    options: UploadOptions = {},
  ): Promise<TransferSummary> {
    const [from, to] = [checked('upload', anyPath, hostPath), inside('upload', insidePath)]
    const wanted = checked('upload', uploadInput, options)
    // Before it is copied: what changes on the host meanwhile must not be taken for the same.
    const note = noteOf(resolve(from))
    const summary = await uploadTree(await this.#connect(), from, to, wanted)
    if (note !== null) await this.#noteCopy({ path: posix.resolve(to), note })
    return summary
  }

  /** Copies a file or tree from inside to `hostPath`, which names the copy. */
  async download(
    insidePath: string,
    hostPath: string,
    options: TransferOptions = {},
  ): Promise<TransferSummary> {
    const [from, to] = [inside('download', insidePath), checked('download', anyPath, hostPath)]
    const wanted = checked('download', downloadInput, options)
    return downloadTree(await this.#connect(), from, to, wanted)
  }

  /** Reports changes from now on, until the watch is closed. */
  async watch(path: string, options: WatchOptions = {}): Promise<FileWatch> {
    const wanted = checked('watch', watchInput, options)
    return watchFiles(await this.#connect(), inside('watch', path), wanted)
  }
}

function inside(what: string, path: string): string {
  return checked(what, absolutePath, path)
}
