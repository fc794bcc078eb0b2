import type { Writable } from 'node:stream'
import { ResourceError } from '../model/errors.ts'
import { escapeHidden } from '../model/printable.ts'
import { jsonPieces } from './render/json-pieces.ts'
import { styledLines } from './render/text.ts'

/** Resolves when the stream has taken it all: whoever produces faster than is read has to wait. */
export function write(stream: Writable, data: string | Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  stream.write(data, (error) => (error ? reject(outputFailed(error)) : resolve()))
  return promise
}

/** The same for text of ours, with what was put into it of others'. */
export function say(stream: Writable, text: string): Promise<void> {
  return write(stream, styledLines(text))
}

/** One JSON document. It reads the same, and a terminal obeys nothing in it. */
export async function writeJson(stream: Writable, value: unknown): Promise<void> {
  for (const piece of jsonPieces(value)) await write(stream, escapeHidden(piece))
  await write(stream, '\n')
}

function outputFailed(error: Error): Error {
  if (isClosedPipe(error)) return error
  return new ResourceError(`cannot write the output: ${error.message}`, {
    remedy: 'check the file and the disk that it goes to',
    cause: error,
  })
}

/** Whether nobody reads our output any more, as in `forkpoint … | head`. */
export function isClosedPipe(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED'
}
