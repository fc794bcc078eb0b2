import { ConflictError, ResourceError } from '../../model/errors.ts'
import { protocolError } from '../failures.ts'
import { ByteCollector } from '../wire/byte-collector.ts'
import type { AgentConnection, CallOptions } from '../wire/connection.ts'
import { type Fields, need } from '../wire/fields.ts'
import type { Inbox } from '../wire/inbox.ts'
import { progressing } from '../wire/patience.ts'
import type { AgentStream } from '../wire/stream.ts'
import { Op } from '../wire/wire.ts'
import { checkPath, type FileAttributes, type Xattrs } from './files.ts'

export interface ReadOptions extends CallOptions {
  readonly offsetBytes?: number
  readonly lengthBytes?: number
}

export interface ReadAllOptions extends ReadOptions {
  /** How much to keep in memory at most; default 256 MiB. */
  readonly maxBytes?: number
}

export type FileData = Buffer | string | AsyncIterable<Buffer | string>

export interface WriteOptions extends CallOptions, FileAttributes {
  readonly makeParents?: boolean
  /** `replace` is atomic: readers see the old content or the new. Default `replace`. */
  readonly how?: 'replace' | 'append' | 'create'
  /** Extended attributes, by names that begin with `user.`; `replace` drops those that the file had. */
  readonly xattrs?: Xattrs
}

/** A run of data; between runs are holes. */
export interface DataRun {
  readonly offset: number
  readonly bytes: Buffer
}

export interface FileContent {
  readonly runs: AsyncGenerator<DataRun, void, undefined>
  /** Known once every run has been read. */
  readonly end: Promise<{ sizeBytes: number; mode: number; mtimeNs: bigint }>
}

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024
const ZEROS_BYTES = 65_536
const OFFSET_BYTES = 8
const WriteFlag = { parents: 1, append: 2, exclusive: 4 } as const

/** The content of a file as runs of data, without holes. */
export function openContent(
  connection: AgentConnection,
  path: string,
  options: ReadOptions = {},
): FileContent {
  const { offsetBytes, lengthBytes, signal } = options
  const fields: Fields = {
    op: Op.fileRead,
    path: checkPath(path),
    offset: offsetBytes,
    size: lengthBytes,
  }
  const attempt = { verb: 'read', subject: path }
  const patience = progressing
  const stream = connection.open(fields, { attempt, outputs: ['frames'], signal, patience })
  const end = stream.result.then(readEnd)
  // Whoever awaits it sees the failure, and so does whoever reads the runs.
  end.catch(() => {})
  return { runs: eachRun(stream, stream.output(), options), end }
}

/** The content of a file as a stream, with zeros for holes. */
export async function* streamFile(
  connection: AgentConnection,
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  const { offsetBytes = 0, lengthBytes = Number.POSITIVE_INFINITY } = options
  const content = openContent(connection, path, options)
  let at = offsetBytes
  for await (const run of content.runs) {
    yield* zeros(run.offset - at)
    yield run.bytes
    at = run.offset + run.bytes.length
  }
  const { sizeBytes } = await content.end
  yield* zeros(Math.min(sizeBytes, offsetBytes + lengthBytes) - at)
}

/** The content of a file, or the part that the options name. */
export async function readFile(
  connection: AgentConnection,
  path: string,
  options: ReadAllOptions = {},
): Promise<Buffer> {
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES
  const kept = new ByteCollector()
  for await (const chunk of streamFile(connection, path, options)) {
    if (kept.length + chunk.length > maxBytes) {
      throw new ResourceError(`cannot read ${path} into memory: it exceeds ${maxBytes} bytes`, {
        remedy: 'read it as a stream, download it, or raise maxBytes',
      })
    }
    kept.add(chunk)
  }
  return kept.bytes()
}

/** Writes a file from memory or from a stream. A failed write leaves nothing behind. */
export async function writeFile(
  connection: AgentConnection,
  path: string,
  data: FileData,
  options: WriteOptions = {},
): Promise<void> {
  await writeContent(connection, path, options, async (stream) => {
    let size = 0
    for await (const chunk of chunksOf(data)) {
      await stream.sendAt(size, chunk)
      size += chunk.length
    }
    return size
  })
}

/** Writes a file. `send` sends its content and returns its size. */
export async function writeContent(
  connection: AgentConnection,
  path: string,
  options: WriteOptions,
  send: (stream: AgentStream) => Promise<number>,
): Promise<void> {
  const { mode, uid, gid, mtimeNs, xattrs = {}, signal } = options
  const pairs = Object.entries(xattrs).map(([name, value]) => `${name}=${value}`)
  if (pairs.length > 0) requireXattrs(connection, path)
  const fields: Fields = {
    op: Op.fileWrite,
    path: checkPath(path),
    flags: writeFlags(options),
    mode,
    uid,
    gid,
    mtimeNs,
    xattr: pairs,
  }
  const attempt = { verb: 'write', subject: path }
  const stream = connection.open(fields, { attempt, signal, patience: progressing })
  try {
    const size = await send(stream)
    await stream.endInput({ size })
    await stream.result
  } finally {
    stream.cancel()
  }
}

function requireXattrs(connection: AgentConnection, path: string): void {
  if (connection.has('xattrs')) return
  throw new ConflictError(`cannot write the extended attributes of ${path}`, {
    remedy: 'restore a snapshot of the environment: it was started by an earlier version',
  })
}

function writeFlags(options: WriteOptions): number {
  const parents = options.makeParents ? WriteFlag.parents : 0
  if (options.how === 'append') return parents | WriteFlag.append
  return options.how === 'create' ? parents | WriteFlag.exclusive : parents
}

async function* chunksOf(data: FileData): AsyncGenerator<Buffer, void, undefined> {
  if (typeof data === 'string' || Buffer.isBuffer(data)) yield Buffer.from(data)
  else for await (const chunk of data) yield Buffer.from(chunk)
}

async function* eachRun(
  stream: AgentStream,
  frames: Inbox,
  options: ReadOptions,
): AsyncGenerator<DataRun, void, undefined> {
  const { offsetBytes = 0, lengthBytes = Number.POSITIVE_INFINITY } = options
  let from = offsetBytes
  try {
    for await (const frame of frames) {
      const offset = Number(frame.readBigUInt64LE(0))
      const bytes = frame.subarray(OFFSET_BYTES)
      const to = offset + bytes.length
      if (offset < from || to > offsetBytes + lengthBytes || !Number.isSafeInteger(to)) {
        throw protocolError(`file content at ${offset}, which was not requested`)
      }
      from = to
      yield { offset, bytes }
    }
  } finally {
    stream.cancel()
  }
}

function readEnd(fields: Fields): { sizeBytes: number; mode: number; mtimeNs: bigint } {
  const sizeBytes = need(fields, 'size')
  if (sizeBytes < 0) throw protocolError(`a file of ${sizeBytes} bytes`)
  return { sizeBytes, mode: need(fields, 'mode'), mtimeNs: need(fields, 'mtimeNs') }
}

function* zeros(count: number): Generator<Buffer, void, undefined> {
  for (let left = count; left > 0; left -= ZEROS_BYTES) {
    yield Buffer.alloc(Math.min(left, ZEROS_BYTES))
  }
}
