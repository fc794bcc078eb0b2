import { Agent, type ClientRequest, request as httpRequest } from 'node:http'
import type { RequestOptions } from 'node:https'
import type { Address } from './address.ts'

export interface TransportOptions {
  readonly token?: string | undefined
  /** certificates to trust in addition to the system's, as PEM */
  readonly ca?: string | undefined
}

/** How requests reach one daemon. */
export interface Transport {
  readonly address: Address
  /** Begins a request; the caller sends its body and ends it. */
  begin(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<ClientRequest>
  /** What a WebSocket to `path` needs. */
  socketTarget(path: string): { readonly url: string; readonly options: RequestOptions }
  close(): void
}

/** Connections are kept: a command makes several requests in a row. */
const agentOptions = { keepAlive: true, timeout: 0 } as const

export async function transport(address: Address, options: TransportOptions): Promise<Transport> {
  const { token, ca } = options
  const auth: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  if (address.kind === 'tcp' && address.url.protocol === 'https:') {
    return await secureTransport(address, auth, ca)
  }
  const agent = new Agent(agentOptions)
  const place =
    address.kind === 'unix'
      ? { socketPath: address.path, host: 'localhost' }
      : { host: bare(address.url), port: portOf(address.url, 80) }
  return {
    address,
    begin: async (method, path, headers) =>
      httpRequest({ ...place, agent, method, path, headers: { ...headers, ...auth } }),
    socketTarget: (path) => ({
      url:
        address.kind === 'unix'
          ? `ws+unix://${address.path}:${path}`
          : `ws://${address.url.host}${path}`,
      options: { headers: auth },
    }),
    close: () => agent.destroy(),
  }
}

/** Loads TLS only if it is used. */
async function secureTransport(
  address: Address & { readonly kind: 'tcp' },
  auth: Record<string, string>,
  ca: string | undefined,
): Promise<Transport> {
  const { Agent: SecureAgent, request } = await import('node:https')
  const { rootCertificates } = await import('node:tls')
  const trust = ca === undefined ? {} : { ca: [...rootCertificates, ca] }
  const agent = new SecureAgent({ ...agentOptions, ...trust })
  const { url } = address
  const place = { host: bare(url), port: portOf(url, 443) }
  return {
    address,
    begin: async (method, path, headers) =>
      request({ ...place, agent, method, path, headers: { ...headers, ...auth } }),
    socketTarget: (path) => ({
      url: `wss://${url.host}${path}`,
      options: { headers: auth, ...trust },
    }),
    close: () => agent.destroy(),
  }
}

/** An IPv6 address without its brackets. */
function bare({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function portOf({ port }: URL, fallback: number): number {
  return port === '' ? fallback : Number(port)
}
