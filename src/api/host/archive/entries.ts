import type { Header } from 'tar-stream'
import { bytesToText } from '../../../agent/files/byte-text.ts'
import { quote } from '../../../model/text/quote.ts'
import { requirePlain } from '../paths.ts'
import { malformed } from './malformed.ts'
import { type Run, sparseRuns } from './sparse.ts'
import { bytesOf, type TarEntry } from './tar-entry.ts'

/** What a file has in addition to its content. */
export interface Attributes {
  readonly mode: number
  /** as seen inside */
  readonly uid: number
  readonly gid: number
  readonly mtimeSeconds: number
}

/** An entry of an archive. Its path is relative and only leads down; empty: the top itself. */
export type ArchiveEntry =
  | { readonly type: 'directory'; readonly path: string; readonly attributes: Attributes }
  | {
      readonly type: 'file'
      readonly path: string
      readonly attributes: Attributes
      readonly sizeBytes: number
      /** everything between these parts is a hole */
      readonly content: AsyncIterable<Run>
    }
  | {
      readonly type: 'symlink'
      readonly path: string
      readonly attributes: Attributes
      readonly target: string
    }
  /** a second name for an earlier file */
  | { readonly type: 'link'; readonly path: string; readonly first: string }

/** The next id means "leave it as it is" to the kernel. */
const mostId = 0xffff_fffe
/** The kernel's limit for the target of a symlink. */
const longestTarget = 4095
/** Beyond what any file system can store. */
const furthestSeconds = 2 ** 40

/** Trusts neither the engine that made the archive nor the programs that wrote its content. */
export function parseEntry(entry: TarEntry): ArchiveEntry {
  const { header } = entry
  const path = pathOf(header)
  switch (header.type) {
    case 'directory':
      return { type: 'directory', path, attributes: attributesOf(header) }
    case 'file':
      return fileOf(entry, requireName(path))
    case 'symlink':
      requireNoContent(header, path)
      return {
        type: 'symlink',
        path: requireName(path),
        attributes: attributesOf(header),
        target: targetOf(header, path),
      }
    case 'link': {
      requireNoContent(header, path)
      const first = textOf(header.linkname ?? '')
      requirePlain(first)
      return { type: 'link', path: requireName(path), first }
    }
    default:
      throw malformed(`${quote(path)} is neither a file, a directory nor a symlink`)
  }
}

function fileOf(entry: TarEntry, path: string): ArchiveEntry {
  const attributes = attributesOf(entry.header)
  const realSize = sparseSize(entry.header)
  const sizeBytes = realSize ?? entry.header.size
  if (!isWhole(sizeBytes)) throw malformed(`${quote(path)} has no size`)
  const content =
    realSize === null ? plainRuns(bytesOf(entry)) : sparseRuns(bytesOf(entry), realSize)
  return { type: 'file', path, attributes, sizeBytes, content }
}

async function* plainRuns(chunks: AsyncIterable<Buffer>): AsyncGenerator<Run> {
  let offset = 0
  for await (const bytes of chunks) {
    yield { offset, bytes }
    offset += bytes.length
  }
}

function pathOf({ name, type }: Header): string {
  if (name === '.' && type === 'directory') return ''
  const path = textOf(name)
  requirePlain(path)
  return path
}

/** tar-stream returns one character per byte. */
function textOf(name: string): string {
  return bytesToText(Buffer.from(name, 'latin1'))
}

function requireName(path: string): string {
  if (path !== '') return path
  throw malformed('the top is not a directory')
}

function requireNoContent({ size }: Header, path: string): void {
  if (size !== 0) throw malformed(`the link ${quote(path)} has content`)
}

function targetOf({ linkname }: Header, path: string): string {
  if (linkname && linkname.length <= longestTarget) return textOf(linkname)
  throw malformed(`the symlink ${quote(path)} has no target, or one that is too long`)
}

function attributesOf(header: Header): Attributes {
  const { mode, uid, gid } = header
  if (!isWhole(mode)) throw malformed('an entry has no mode')
  if (!isId(uid) || !isId(gid)) throw malformed('an entry has no owner')
  return { mode: mode & 0o7777, uid, gid, mtimeSeconds: mtimeOf(header) }
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isId(value: unknown): value is number {
  return isWhole(value) && value <= mostId
}

/** A pax record, for what does not fit in the header. */
function record(header: Header, key: string): string | null {
  const records: unknown = Reflect.get(header, 'pax')
  if (typeof records !== 'object' || records === null || !Object.hasOwn(records, key)) return null
  const value: unknown = Reflect.get(records, key)
  return typeof value === 'string' ? value : null
}

function mtimeOf(header: Header): number {
  const exact = record(header, 'mtime')
  const seconds = exact === null ? header.mtime.getTime() / 1000 : Number(exact)
  if (!Number.isFinite(seconds)) throw malformed('an entry has no time')
  return Math.max(-furthestSeconds, Math.min(furthestSeconds, seconds))
}

/** The size of a file with holes; null for other files. */
function sparseSize(header: Header): number | null {
  const major = record(header, 'GNU.sparse.major')
  if (major === null) return null
  const size = Number(record(header, 'GNU.sparse.realsize') ?? Number.NaN)
  const isKnown = major === '1' && record(header, 'GNU.sparse.minor') === '0'
  if (isKnown && isWhole(size)) return size
  throw malformed('a file has holes in an unknown format')
}
