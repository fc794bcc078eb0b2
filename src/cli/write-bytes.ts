import type { Writable } from 'node:stream'
import { ResourceError } from '../model/errors.ts'

/** Resolves when the stream has taken it all, so that a fast writer waits for a slow reader. */
export function write(stream: Writable, data: string | Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  stream.write(data, (error) => (error ? reject(outputFailed(error)) : resolve()))
  return promise
}

function outputFailed(error: Error): Error {
  if (isClosedPipe(error)) return error
  return new ResourceError(`cannot write the output: ${error.message}`, {
    remedy: 'check the file and the disk it is on',
    cause: error,
  })
}

/** Whether our output no longer has a reader, as in `forkpoint … | head`. */
export function isClosedPipe(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED'
}
