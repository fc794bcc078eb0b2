import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorTrailer } from '../../api/contract/routes.ts'
import { toJson } from '../../model/errors.ts'

/**
 * Sends a body of unknown length. If it fails in the middle, a client that reads trailers gets the reason,
 * and any other sees that the body is cut.
 */
export async function sendBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: Readable,
  type = 'application/octet-stream',
): Promise<void> {
  reply.hijack()
  const { raw } = reply
  const readsTrailers = /\btrailers\b/.test(String(request.headers.te ?? ''))
  const trailer = readsTrailers ? { trailer: errorTrailer } : {}
  raw.writeHead(200, { 'content-type': type, 'x-request-id': request.id, ...trailer })
  try {
    await pipeline(bytes, raw, { end: false })
  } catch (error) {
    if (raw.destroyed) return
    if (!readsTrailers) return void raw.destroy()
    const reason = Buffer.from(JSON.stringify(toJson(error))).toString('base64url')
    raw.addTrailers({ [errorTrailer]: reason })
  }
  raw.end()
}
