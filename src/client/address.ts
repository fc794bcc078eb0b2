import { InvalidInputError } from '../model/errors.ts'
import { quote } from '../model/text/quote.ts'

/** Where a daemon is. */
export type Address =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly url: URL }

const forms = 'unix:///path, http://host:port or https://host:port'

/** Reads `unix:///path`, `http://…` or `https://…`. */
export function parseAddress(text: string): Address {
  const [, path] = /^unix:\/\/(\/.+)$/.exec(text) ?? []
  if (path !== undefined) return { kind: 'unix', path }
  const url = URL.parse(text)
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!isWeb) {
    throw new InvalidInputError(`not the address of a daemon: ${quote(text)}`, {
      remedy: `give ${forms}`,
    })
  }
  if (url.username !== '' || url.search !== '' || url.pathname !== '/') {
    throw new InvalidInputError(
      `the address of a daemon has only a host and a port: ${quote(text)}`,
      {
        remedy: `give ${forms}, and the token as an option or in FORKPOINT_TOKEN`,
      },
    )
  }
  return { kind: 'tcp', url }
}

export function formatAddress(address: Address): string {
  return address.kind === 'unix' ? `unix://${address.path}` : address.url.origin
}
