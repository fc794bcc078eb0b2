import { ConnectionError, type Happened } from '../../model/errors.ts'
import { failureIn } from '../failure.ts'
import { type Losses, retrier } from '../link/retrier.ts'
import type { Sent } from '../link/sent.ts'

/** A request whose body may be bytes. */
export type WebSent = Omit<Sent, 'body'> & { readonly body?: string | Uint8Array<ArrayBuffer> }

/** Sends requests to one daemon with `fetch`, again if the connection is lost. */
export interface Fetcher {
  /** the address of the daemon */
  readonly where: string
  /** aborts when the client is closed */
  readonly closed: AbortSignal
  /** Resolves to what `read` makes of the answer; rejects with the daemon's error. */
  send<T>(sent: WebSent, read: (answer: Response) => Promise<T>): Promise<T>
}

export interface FetcherOptions {
  readonly token?: string | undefined
  readonly fetch?: typeof fetch | undefined
  readonly closed: AbortSignal
}

export function fetcher(where: string, options: FetcherOptions): Fetcher {
  const { token, closed, fetch: fetchWith = (input, init) => fetch(input, init) } = options
  const auth: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  const asError: Losses['asError'] = (error, happened) => unreachable(where, error, happened)
  const retried = retrier({ isUnreached, isCut, asError })
  return {
    where,
    closed,
    send: async ({ method, path, body, headers, signal }, read) => {
      const ended = AbortSignal.any([closed, ...(signal ? [signal] : [])])
      const typed = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
      const request: RequestInit = {
        method,
        headers: { ...headers, ...typed, ...auth },
        signal: ended,
        ...(body !== undefined && { body }),
      }
      return await retried(method === 'GET' ? 'no' : 'maybe', ended, async () => {
        const answer = await fetchWith(`${where}${path}`, request)
        if (answer.ok) return await read(answer)
        throw failureIn(answer.status, await answer.text())
      })
    },
  }
}

/** The request never left this machine. Node says so; a browser does not, which leaves it open. */
function isUnreached(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND'
}

/** Only Node says this, too. */
function isCut(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ECONNRESET' || code === 'UND_ERR_SOCKET'
}

function codeOf(error: unknown): unknown {
  const cause = error instanceof TypeError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause ? cause.code : undefined
}

function unreachable(where: string, cause: unknown, happened: Happened): ConnectionError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new ConnectionError(`cannot reach the daemon at ${where}: ${why}`, {
    happened,
    remedy:
      happened === 'no'
        ? 'check the address, and in a browser that the page comes from the same origin'
        : 'the operation may have happened: look before you repeat it',
    cause,
  })
}
