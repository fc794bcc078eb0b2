import type { IncomingMessage } from 'node:http'
import { PassThrough, pipeline, type Readable, Transform } from 'node:stream'
import { errorData } from '../api/contract/data/data.ts'
import { errorTrailer } from '../api/contract/routes.ts'
import { ConnectionError, errorFromJson } from '../model/errors.ts'

/** The body of an answer, which fails if the daemon could not send all of it. */
export function checkedStream(response: IncomingMessage): Readable {
  const checked = new Transform({
    transform: (chunk, _encoding, done) => done(null, chunk),
    flush: (done) => done(trailingError(response)),
  })
  const out = new PassThrough()
  pipeline(response, checked, out, (error) => {
    if (error) out.destroy(lost(error))
  })
  return out
}

function trailingError({ trailers }: IncomingMessage): Error | null {
  const trailer = trailers[errorTrailer]
  if (trailer === undefined) return null
  const given: unknown = JSON.parse(Buffer.from(trailer, 'base64url').toString('utf8'))
  return errorFromJson(errorData.parse(given))
}

function lost(error: Error): Error {
  if (!('code' in error) || error.code !== 'ECONNRESET') return error
  return new ConnectionError('the connection was lost in the middle of a stream', {
    happened: 'no',
    remedy: 'try again',
    cause: error,
  })
}
