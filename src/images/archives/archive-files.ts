import type { FileHandle } from 'node:fs/promises'
import { dirname, posix } from 'node:path'
import { type Blob, badImage, type ImageFiles, openBlob } from './blobs.ts'

const block = 512
/** An archive of an image has a few members for each layer. */
const mostMembers = 10_000
const longestName = 64 * 1024

/** The members of an archive; reads only their headers, wherever they lie. */
export async function archiveFiles(path: string): Promise<ImageFiles> {
  const { file, size } = await openBlob(path)
  await using _closed = { [Symbol.asyncDispose]: () => file.close() }
  const members = new Map<string, Blob>()
  const links = new Map<string, string>()
  const found = (name: string): Blob | undefined => members.get(links.get(name) ?? name)
  let said: Said = {}
  for (let at = 0, count = 0; at + block <= size; count++) {
    if (count > mostMembers) throw badImage(path, `it has more than ${mostMembers} files`)
    const header = await readAt(file, path, at, block)
    if (header.every((byte) => byte === 0)) break
    if (text(header.subarray(257, 262)) !== 'ustar') throw badImage(path, whyNoArchive(header))
    const type = String.fromCharCode(header[156] ?? 0)
    const bytes = said.size ?? number(path, header.subarray(124, 136))
    const start = at + block
    if (bytes > size - start) throw badImage(path, 'it ends early')
    at = start + Math.ceil(bytes / block) * block
    if (type === 'x' || type === 'L') {
      said = { ...said, ...(await readSaid(file, path, type, start, bytes)) }
      continue
    }
    const name = posix.normalize(said.name ?? nameOf(header))
    if (type === '0' || type === '\0') members.set(name, { path, start, size: bytes })
    if (type === '2') links.set(name, linkOf(name, header))
    said = {}
  }
  return { where: path, find: async (name) => found(posix.normalize(name)) }
}

/** What records before a member say about it. */
interface Said {
  readonly name?: string
  readonly size?: number
}

async function readSaid(
  file: FileHandle,
  path: string,
  type: 'x' | 'L',
  start: number,
  bytes: number,
): Promise<Said> {
  if (bytes > longestName) throw badImage(path, `it has records of ${bytes} bytes`)
  const text = (await readAt(file, path, start, bytes)).toString('utf8')
  if (type === 'L') return { name: text.replace(/\0.*$/s, '') }
  const records = new Map(
    [...text.matchAll(/\d+ ([^=\n]+)=([^\n]*)\n/g)].map(([, key = '', value = '']) => [key, value]),
  )
  const name = records.get('path')
  const size = records.get('size')
  return { ...(name !== undefined && { name }), ...(size !== undefined && { size: Number(size) }) }
}

async function readAt(file: FileHandle, path: string, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at)
  if (bytesRead !== length) throw badImage(path, 'it ends early')
  return buffer
}

function nameOf(header: Buffer): string {
  const prefix = text(header.subarray(345, 500))
  const name = text(header.subarray(0, 100))
  // GNU's format has times where POSIX has the prefix, and says so with a space.
  return prefix === '' || header[262] === 0x20 ? name : `${prefix}/${name}`
}

/** Docker's archives have links between the directories of layers. */
function linkOf(name: string, header: Buffer): string {
  return posix.join(dirname(name), text(header.subarray(157, 257)))
}

function whyNoArchive(header: Buffer): string {
  const isCompressed =
    header.readUInt16BE(0) === 0x1f8b ||
    ['28b52ffd', 'fd377a58'].includes(header.toString('hex', 0, 4))
  return isCompressed ? 'it is compressed as a whole; decompress it first' : 'it is no tar archive'
}

function number(path: string, field: Buffer): number {
  const first = field[0] ?? 0
  const value =
    first & 0x80
      ? Number(BigInt(`0x${field.subarray(4).toString('hex')}`))
      : Number.parseInt(text(field).trim() || '0', 8)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw badImage(path, 'a size in it is no number')
}

function text(field: Buffer): string {
  const end = field.indexOf(0)
  return field.subarray(0, end === -1 ? field.length : end).toString('utf8')
}
