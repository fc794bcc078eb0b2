import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ForkpointError, Happened } from '../model/errors.ts'
import type { Address } from './address.ts'
import { failureIn } from './failure.ts'
import type { Retrier } from './link/retrier.ts'
import type { Sent } from './link/sent.ts'
import { socketRetrier } from './link/socket-retrier.ts'
import type { Transport } from './transport.ts'

/** Sends requests to one daemon, again if the connection is lost. */
export class Requester {
  readonly #transport: Transport
  /** Runs `work` again as long as the daemon cannot be reached, but not forever. */
  readonly retried: Retrier

  constructor(transport: Transport) {
    this.#transport = transport
    this.retried = socketRetrier(this.address)
  }

  get address(): Address {
    return this.#transport.address
  }

  /** Resolves to what `read` makes of the answer; rejects with the daemon's error. */
  async send<T>(sent: Sent, read: (answer: IncomingMessage) => Promise<T>): Promise<T> {
    const happened: Happened = sent.method === 'GET' ? 'no' : 'maybe'
    return await this.retried(happened, sent.signal, async () => {
      const response = await this.#sendOnce(sent)
      if ((response.statusCode ?? 500) < 400) return await read(response)
      throw await failureOf(response)
    })
  }

  async #sendOnce({ method, path, body, headers, signal }: Sent): Promise<IncomingMessage> {
    const typed = body === undefined ? {} : { 'content-type': 'application/json' }
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const request = await this.#transport.begin(method, path, { ...headers, ...typed, ...length })
    const abort = () => request.destroy(new Error('aborted'))
    signal?.addEventListener('abort', abort, { once: true })
    try {
      request.end(body)
      const [response]: IncomingMessage[] = await once(request, 'response')
      if (response === undefined) throw new Error('no response')
      // The body may take long: an abort ends it, too.
      response.once('close', () => signal?.removeEventListener('abort', abort))
      // Whoever reads the body gets the failure.
      request.on('error', (error) => response.destroy(error))
      return response
    } catch (error) {
      signal?.removeEventListener('abort', abort)
      throw error
    }
  }
}

/** The error in an answer that is not a success. */
export async function failureOf(response: IncomingMessage): Promise<ForkpointError> {
  return failureIn(response.statusCode, await text(response))
}
