import { posix } from 'node:path'
import type { Environment } from '../../api/handles/environment.ts'
import { errnoOf } from '../shared/errno.ts'

/** More than this of one file belongs into a stream. */
const mostBytes = 64 * 1024 ** 2

interface Reading {
  readonly path: string
  readonly abortSignal?: AbortSignal
}

/** Files of an environment as the AI SDK wants them. Relative paths begin at the working directory. */
export function sandboxFiles({ files, lastInfo }: Environment) {
  const at = (path: string) => posix.resolve(lastInfo.workdir, path)
  const write = (path: string, content: Parameters<typeof files.write>[1], signal?: AbortSignal) =>
    files.write(at(path), content, { makeParents: true, ...(signal && { signal }) })
  const bytes = ({ path, abortSignal }: Reading) =>
    unlessMissing(files.read(at(path), { maxBytes: mostBytes, ...signalOf(abortSignal) }))
  return {
    readFile: async ({ path, abortSignal }: Reading) => {
      const info = await unlessMissing(files.stat(at(path), signalOf(abortSignal)))
      if (info === null) return null
      return ReadableStream.from(chunksOf(files.stream(at(path), signalOf(abortSignal))))
    },
    readBinaryFile: async (options: Reading) => {
      const found = await bytes(options)
      return found === null ? null : new Uint8Array(found)
    },
    readTextFile: async (
      options: Reading & { encoding?: string; startLine?: number; endLine?: number },
    ) => {
      const found = await bytes(options)
      if (found === null) return null
      const text = new TextDecoder(options.encoding).decode(found)
      const { startLine = 1, endLine } = options
      if (startLine === 1 && endLine === undefined) return text
      return text
        .split('\n')
        .slice(startLine - 1, endLine)
        .join('\n')
    },
    writeFile: ({ path, content, abortSignal }: Writing<ReadableStream<Uint8Array>>) =>
      write(path, buffersOf(content), abortSignal),
    writeBinaryFile: ({ path, content, abortSignal }: Writing<Uint8Array>) =>
      write(path, Buffer.from(content), abortSignal),
    writeTextFile: ({ path, content, encoding, abortSignal }: Writing<string> & Encoded) =>
      write(path, Buffer.from(content, encodingOf(encoding)), abortSignal),
    stat: async ({ path, abortSignal }: Reading) => {
      const info = await unlessMissing(files.stat(at(path), signalOf(abortSignal)))
      if (info === null) return null
      // Links were followed.
      const type = info.type === 'symlink' ? 'other' : info.type
      return { type, size: info.sizeBytes }
    },
    listDirectory: async ({ path, abortSignal }: Reading) => {
      const entries = await unlessMissing(files.list(at(path), signalOf(abortSignal)))
      return entries?.map(({ name, type }) => ({ name, type })) ?? null
    },
    deleteFile: async ({ path, abortSignal }: Reading) => {
      const done = files.remove(at(path), signalOf(abortSignal)).then(() => true)
      return (await unlessMissing(done)) ?? false
    },
  }
}

interface Writing<T> extends Reading {
  readonly content: T
}

interface Encoded {
  readonly encoding?: string
}

function signalOf(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}

/** Null for a file that does not exist. */
async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null
    throw error
  }
}

function encodingOf(encoding: string | undefined): BufferEncoding {
  const wanted = encoding ?? 'utf-8'
  if (Buffer.isEncoding(wanted)) return wanted
  throw new RangeError(`no such encoding: ${wanted}`)
}

async function* chunksOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) yield new Uint8Array(chunk)
}

async function* buffersOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of stream) yield Buffer.from(chunk)
}
