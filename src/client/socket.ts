import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { createWebSocketStream, WebSocket } from 'ws'
import { failureOf } from './requester.ts'
import type { Transport } from './transport.ts'

/** A byte stream over a WebSocket, with flow control in both directions. */
export async function openSocket(
  carrier: Transport,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Duplex> {
  const { url, options } = carrier.socketTarget(path)
  const socket = new WebSocket(url, { ...options, perMessageDeflate: false })
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
  const abort = () => socket.terminate()
  signal?.addEventListener('abort', abort, { once: true })
  // Made at once: what arrives together with the answer must not be missed.
  const stream = createWebSocketStream(socket)
  // Stays, so that a failure before the stream has a user is not thrown.
  stream.on('error', reject)
  socket.once('open', () => resolve(stream))
  socket.once('unexpected-response', (_request, response: IncomingMessage) => {
    failureOf(response).then(reject, reject)
  })
  try {
    return await promise
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}
