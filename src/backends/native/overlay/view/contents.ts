import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { InvalidInputError, NotFoundError } from '../../../../model/errors.ts'
import { quote } from '../../../../model/text/quote.ts'
import { lookup } from './entries.ts'
import { layerArguments, type NativeView } from './native-view.ts'
import { parseInsidePath, relative } from './paths.ts'
import { endedEarly, viewAnswer, viewCommand } from './view-command.ts'

/** What `cell read` sends instead of a length if there is no regular file. */
const none = 0xffff_ffff

type Block = { readonly kind: 'bytes'; readonly bytes: Buffer } | { readonly kind: 'end' | 'none' }

/** The blocks of several files in a row (native/cell/files/content.c). */
export async function* parseBlocks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Block> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (rest.length >= 4) {
      const length = rest.readUInt32BE(0)
      const isEnd = length === 0 || length === none
      if (!isEnd && rest.length < 4 + length) break
      if (isEnd) yield { kind: length === 0 ? 'end' : 'none' }
      else yield { kind: 'bytes', bytes: rest.subarray(4, 4 + length) }
      rest = rest.subarray(isEnd ? 4 : 4 + length)
    }
  }
  if (rest.length > 0) throw endedEarly('reading files')
}

function blocks(view: NativeView, paths: readonly string[]): AsyncGenerator<Block> {
  const args = ['read', ...layerArguments(view)]
  return parseBlocks(viewCommand('reading files', args, paths.map(relative)))
}

/** The content of a file, read through the layers; does not follow symlinks. */
export async function openFile(view: NativeView, path: string): Promise<Readable> {
  const inside = parseInsidePath(path)
  const [entry] = await lookup(view, [inside])
  if (!entry) {
    throw new NotFoundError(`no such file: ${quote(inside)}`, {
      remedy: 'see which files exist with `forkpoint exec ENV -- ls`, or `forkpoint diff`',
    })
  }
  if (entry.type !== 'file') {
    throw new InvalidInputError(`not a regular file: ${quote(inside)}`, {
      remedy: 'name a regular file, or copy a directory with `forkpoint cp`',
    })
  }
  return Readable.from(bytesOf(blocks(view, [inside])), { objectMode: false })
}

async function* bytesOf(all: AsyncIterable<Block>): AsyncGenerator<Buffer> {
  for await (const block of all) if (block.kind === 'bytes') yield block.bytes
}

/** The whole file, or null if it is larger than `maxBytes`. */
export async function readSmallFile(
  view: NativeView,
  path: string,
  maxBytes: number,
): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const bytes of await openFile(view, path)) {
    length += (bytes as Buffer).length
    if (length > maxBytes) return null
    chunks.push(bytes as Buffer)
  }
  return Buffer.concat(chunks)
}

/** SHA-256 of each path; null if it is not a regular file. */
export async function digests(
  view: NativeView,
  paths: readonly string[],
): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>()
  if (paths.length === 0) return found
  let at = 0
  let hash = createHash('sha256')
  for await (const block of blocks(view, paths)) {
    if (block.kind === 'bytes') {
      hash.update(block.bytes)
      continue
    }
    found.set(paths[at] ?? '', block.kind === 'end' ? hash.digest('hex') : null)
    hash = createHash('sha256')
    at += 1
  }
  if (at !== paths.length) throw endedEarly('reading files')
  return found
}

/** The paths that are regular files with the same content on both sides. */
export async function sameContent(
  a: NativeView,
  b: NativeView,
  paths: readonly string[],
): Promise<Set<string>> {
  if (paths.length === 0) return new Set()
  const args = ['compare', ...layerArguments(a), '--', ...layerArguments(b)]
  const answer = await viewAnswer('comparing files', args, paths.map(relative))
  if (answer.length !== paths.length) throw endedEarly('comparing files')
  return new Set(paths.filter((_, at) => answer[at] === '='.charCodeAt(0)))
}
