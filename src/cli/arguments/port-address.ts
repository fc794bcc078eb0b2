import { isIP, isIPv6 } from 'node:net'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

export interface ListenAddress {
  readonly listenHost?: string
  readonly listenPort: number
}

/** `PORT`, `ADDR:PORT` or `[ADDR6]:PORT`; port 0 is any free one. */
export function parseListen(text: string): ListenAddress {
  const [, bracketed, bare, port = text] = /^(?:\[(.*)\]|([^:]*)):(.*)$/.exec(text) ?? []
  const listenPort = parsePort(port)
  const host = bracketed ?? bare
  if (host === undefined) return { listenPort }
  if (isIP(host) !== 0 || host === 'localhost') return { listenHost: host, listenPort }
  throw new InvalidInputError(`not an address to listen on: ${quote(text)}`, {
    remedy: 'write PORT or ADDRESS:PORT, such as 8080, 0.0.0.0:8080 or [::1]:8080',
  })
}

export interface Forwarded extends Partial<ListenAddress> {
  /** the port inside */
  readonly port: number
}

/** `PORT`, or where to listen and the port inside: `8080:80`, `0.0.0.0:8080:80`. */
export function parseForward(text: string): Forwarded {
  const at = text.lastIndexOf(':')
  const port = parsePort(text.slice(at + 1))
  if (port === 0) throw notAPort(text)
  return at === -1 ? { port } : { port, ...parseListen(text.slice(0, at)) }
}

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw notAPort(text)
}

function notAPort(text: string): InvalidInputError {
  return new InvalidInputError(`not a port: ${quote(text)}`, {
    remedy: 'give a number from 1 to 65535, or two such as 8080:80',
  })
}

export function formatAddress(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
}
