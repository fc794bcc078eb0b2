import { join } from 'node:path'
import { Forkpoint, type TokenOptions } from '../../../src/index.ts'
import { startDaemon } from '../../../src/serve.ts'
import { TestHome } from '../../support/test-home.ts'

/** A daemon in this process, on a Unix socket and on TCP. */
export interface ServedHome extends AsyncDisposable {
  readonly path: string
  /** of the TCP side, which needs a token */
  readonly url: string
  /** through the Unix socket */
  readonly fp: Forkpoint
  token(options?: TokenOptions): Promise<string>
  /** A request over TCP; `body` is sent as JSON. */
  fetch(path: string, options?: FetchOptions): Promise<Response>
}

export interface FetchOptions {
  readonly method?: string
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly raw?: string | Uint8Array
  readonly signal?: AbortSignal
}

export async function serveHome(purpose: string, domain?: string): Promise<ServedHome> {
  const home = new TestHome(purpose)
  const served = await startDaemon({
    open: { settings: { home: home.path, log: 'error' } },
    socket: join(home.path, 'socket'),
    listen: { host: '127.0.0.1', port: 0 },
    domain,
    onStop: () => {},
  })
  const [socket = '', url = ''] = served.addresses
  const fp = await Forkpoint.connect(socket)
  return {
    path: home.path,
    url,
    fp,
    token: async (options = {}) => (await fp.tokens.create(options)).token,
    fetch: (path, { method, token, body, headers = {}, raw, signal } = {}) =>
      fetch(`${url}${path}`, {
        method: method ?? (body === undefined && raw === undefined ? 'GET' : 'POST'),
        headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
        ...((raw ?? body) !== undefined && { body: raw ?? JSON.stringify(body) }),
        ...(signal && { signal }),
      }),
    [Symbol.asyncDispose]: async () => {
      await fp.close()
      await served[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}
