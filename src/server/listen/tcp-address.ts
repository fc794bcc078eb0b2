import { isIP, isIPv6 } from 'node:net'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

export interface TcpAddress {
  readonly host: string
  readonly port: number
}

/** Reads `127.0.0.1:7070`, `[::1]:7070`, `localhost:7070` or `:7070`. */
export function parseTcpAddress(text: string): TcpAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  const isGood = bracketed === undefined || isIPv6(bracketed)
  if (host !== undefined && isGood && Number(port) <= 65_535) {
    return { host: host === '' ? '127.0.0.1' : host, port: Number(port) }
  }
  throw new InvalidInputError(`not an address to listen on: ${quote(text)}`, {
    remedy: 'give ADDRESS:PORT, such as 127.0.0.1:7070 or [::1]:7070',
  })
}

/** Whether only this machine can reach it. */
export function isLoopback({ host }: TcpAddress): boolean {
  if (isIP(host) === 0) return host === 'localhost'
  return host === '::1' || host.startsWith('127.')
}

export function requireSafe(address: TcpAddress, hasTls: 'tls' | 'plain'): void {
  if (hasTls === 'tls' || isLoopback(address)) return
  throw new InvalidInputError(
    `${quote(address.host)} can be reached from other machines, and tokens would cross the network unencrypted`,
    { remedy: 'give --tls-cert and --tls-key, or listen on 127.0.0.1' },
  )
}
