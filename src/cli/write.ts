import type { Writable } from 'node:stream'

/** Resolves when the stream has taken it all: whoever produces faster than is read has to wait. */
export function write(stream: Writable, data: string | Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  stream.write(data, (error) => (error ? reject(error) : resolve()))
  return promise
}

/** Whether nobody reads our output any more, as in `forkpoint … | head`. */
export function isClosedPipe(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED'
}
