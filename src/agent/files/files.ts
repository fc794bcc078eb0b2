import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { protocolError } from '../failures.ts'
import type { AgentConnection, CallOptions } from '../wire/connection.ts'
import { type Fields, need } from '../wire/fields.ts'
import { type Patience, promptly } from '../wire/patience.ts'
import { Op } from '../wire/wire.ts'
import { eachRecord, listRecords } from './listing.ts'

export type FileType = 'file' | 'directory' | 'symlink' | 'other'

export interface FileInfo {
  readonly type: FileType
  /** Permission bits, with setuid, setgid and sticky. */
  readonly mode: number
  readonly sizeBytes: number
  /** Less than the size when the file is sparse. */
  readonly allocatedBytes: number
  readonly mtimeNs: bigint
  readonly uid: number
  readonly gid: number
  readonly nlink: number
  /** The target of a symlink. */
  readonly target: string | null
  /** Extended attributes `user.*` by name, as far as they are text; absent unless they were asked for. */
  readonly xattrs?: Xattrs
}

export type Xattrs = Readonly<Record<string, string>>

export interface FileEntry extends FileInfo {
  readonly name: string
}

export interface FileOwner {
  readonly uid: number
  readonly gid: number
}

export interface FileAttributes extends Partial<FileOwner> {
  readonly mode?: number | undefined
  readonly mtimeNs?: bigint | undefined
}

export interface StatOptions extends CallOptions {
  /** Whether a symlink at the end of the path is followed; default `follow`. */
  readonly symlink?: 'follow' | 'itself'
  /** Whether the answer has the extended attributes. */
  readonly xattrs?: boolean
}

export interface ListFilesOptions extends CallOptions {
  /** Whether the entries have their extended attributes. */
  readonly xattrs?: boolean
}

export interface MkdirOptions extends CallOptions {
  readonly mode?: number
  /** Makes missing parents, and accepts a directory that exists. */
  readonly parents?: boolean
}

export interface RemoveOptions extends CallOptions {
  readonly recursive?: boolean
  /** Accepts a path that does not exist. */
  readonly force?: boolean
}

const types: readonly (FileType | undefined)[] = [
  undefined,
  'file',
  'directory',
  'symlink',
  'other',
]
const PERMISSION_BITS = 0o7777
/** The agent is silent while it removes a tree, and a large one on a slow disk takes minutes. */
const treeRemoval: Patience = { until: 'answered', seconds: 1800 }

export async function statFile(
  connection: AgentConnection,
  path: string,
  options: StatOptions = {},
): Promise<FileInfo> {
  const flags = (options.symlink === 'itself' ? 1 : 0) | xattrsFlag(options)
  const request = { op: Op.fileStat, path: checkPath(path), flags }
  return readInfo(await connection.request({ verb: 'stat', subject: path }, request, options))
}

export function listFiles(
  connection: AgentConnection,
  path: string,
  options: ListFilesOptions = {},
): Promise<FileEntry[]> {
  const request = { op: Op.fileList, path: checkPath(path), flags: xattrsFlag(options) }
  return listRecords(connection, { verb: 'list', subject: path }, request, readEntry, options)
}

/** Like `listFiles`, but one at a time, for directories of any size. */
export async function* eachFile(
  connection: AgentConnection,
  path: string,
  options: CallOptions = {},
): AsyncGenerator<FileEntry, void, undefined> {
  const request = { op: Op.fileList, path: checkPath(path) }
  const attempt = { verb: 'list', subject: path }
  for await (const record of eachRecord(connection, attempt, request, options)) {
    yield readEntry(record)
  }
}

function xattrsFlag({ xattrs }: ListFilesOptions): number {
  return xattrs ? 2 : 0
}

export async function makeDirectory(
  connection: AgentConnection,
  path: string,
  options: MkdirOptions = {},
): Promise<void> {
  const request = {
    op: Op.fileMkdir,
    path: checkPath(path),
    mode: options.mode ?? 0o755,
    flags: options.parents ? 1 : 0,
  }
  await connection.request({ verb: 'make directory', subject: path }, request, options)
}

export async function renameFile(
  connection: AgentConnection,
  path: string,
  target: string,
  options: CallOptions = {},
): Promise<void> {
  const request = { op: Op.fileRename, path: checkPath(path), target: checkPath(target) }
  await connection.request({ verb: 'rename', subject: `${path} to ${target}` }, request, options)
}

export async function removeFile(
  connection: AgentConnection,
  path: string,
  options: RemoveOptions = {},
): Promise<void> {
  const flags = (options.recursive ? 1 : 0) | (options.force ? 2 : 0)
  const request = { op: Op.fileRemove, path: checkPath(path), flags }
  const { signal, recursive } = options
  const patience = recursive ? treeRemoval : promptly
  await connection.request({ verb: 'remove', subject: path }, request, { signal, patience })
}

/** Makes a symlink at `path` that points to `target`. */
export async function makeSymlink(
  connection: AgentConnection,
  path: string,
  target: string,
  options: CallOptions = {},
): Promise<void> {
  const request = { op: Op.fileSymlink, path: checkPath(path), target }
  await connection.request({ verb: 'make symlink', subject: path }, request, options)
}

/** Changes the given attributes; of a symlink itself, because it is never followed. */
export async function setFileAttributes(
  connection: AgentConnection,
  path: string,
  attributes: FileAttributes,
  options: CallOptions = {},
): Promise<void> {
  const { mode, uid, gid, mtimeNs } = attributes
  const request = { op: Op.fileSetattr, path: checkPath(path), mode, uid, gid, mtimeNs }
  await connection.request({ verb: 'change attributes of', subject: path }, request, options)
}

export function checkPath(path: string): string {
  if (path.startsWith('/')) return path
  throw new InvalidInputError(`not an absolute path: ${quote(path)}`, {
    remedy: 'begin paths inside an environment with "/"',
  })
}

export function readEntry(record: Fields): FileEntry {
  const name = need(record, 'name')
  // The kernel lists no such names, so the agent that sends one is hostile.
  if (name === '' || name === '.' || name === '..' || name.includes('/')) {
    throw protocolError(`a directory entry named ${quote(name)}`)
  }
  return { name, ...readInfo(record) }
}

function readInfo(fields: Fields): FileInfo {
  const type = types[need(fields, 'type')]
  if (type === undefined) throw protocolError(`file type ${fields.type}`)
  return {
    type,
    mode: need(fields, 'mode') & PERMISSION_BITS,
    sizeBytes: need(fields, 'size'),
    allocatedBytes: need(fields, 'blocks') * 512,
    mtimeNs: need(fields, 'mtimeNs'),
    uid: need(fields, 'uid'),
    gid: need(fields, 'gid'),
    nlink: need(fields, 'nlink'),
    target: fields.target ?? null,
    ...(fields.xattr && { xattrs: Object.fromEntries(fields.xattr.map(pairOf)) }),
  }
}

function pairOf(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=')
  return [text.slice(0, at), text.slice(at + 1)]
}
