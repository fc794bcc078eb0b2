import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { ConnectionError, type ForkpointError, type Happened } from '../model/errors.ts'
import { type Address, formatAddress } from './address.ts'
import { failureIn } from './failure.ts'
import { type Losses, type Retrier, retrier } from './retrier.ts'
import type { Sent } from './sent.ts'
import type { Transport } from './transport.ts'

/** Sends requests to one daemon, again if the connection is lost. */
export class Requester {
  readonly #transport: Transport
  /** Runs `work` again as long as the daemon cannot be reached, but not forever. */
  readonly retried: Retrier

  constructor(transport: Transport) {
    this.#transport = transport
    const asError: Losses['asError'] = (error, happened) =>
      unreachable(this.address, error, happened)
    this.retried = retrier({ isUnreached, isCut, asError })
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

/** The request never left this machine. */
function isUnreached(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'EACCES' || code === 'ENOTFOUND'
}

/** "socket hang up" has the same code. */
function isCut(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ECONNRESET' || code === 'EPIPE'
}

function unreachable(address: Address, cause: unknown, happened: Happened): ConnectionError {
  const why = cause instanceof Error ? cause.message : String(cause)
  const code = (cause as NodeJS.ErrnoException).code
  const remedy =
    code === 'EACCES'
      ? 'run as root, or as a member of the group forkpoint'
      : happened === 'no'
        ? 'check that the daemon runs (`forkpoint serve`) and that the address is right'
        : 'the operation may have happened: look before you repeat it'
  return new ConnectionError(`cannot reach the daemon at ${formatAddress(address)}: ${why}`, {
    happened,
    remedy,
    cause,
  })
}
