import { existsSync } from 'node:fs'
import { InvalidInputError, PrerequisiteError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import type { EngineKind } from './engine-kind.ts'

/** Where an engine listens, as Node's `http.request` takes it. */
export type Address =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number }

export function describeAddress(address: Address): string {
  return 'socketPath' in address ? address.socketPath : `${address.host}:${address.port}`
}

/** The engine that the settings name, or else its own variable, or else the first usual socket. */
export function findEngine(
  kind: EngineKind,
  configured: string | null,
  env: NodeJS.ProcessEnv,
): Address {
  if (configured !== null) return { socketPath: configured }
  const named = env[kind.variable]
  if (named) return parseAddress(kind, named)
  const usual = kind.sockets(env)
  const found = usual.find((path) => existsSync(path))
  if (found !== undefined) return { socketPath: found }
  throw new PrerequisiteError(
    `there is no ${kind.engine} engine: none of ${usual.join(', ')} exists, and ${kind.variable} is not set`,
    { remedy: kind.remedy },
  )
}

function parseAddress({ variable }: EngineKind, text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol === 'unix:' && url.pathname !== '') {
    return { socketPath: decodeURIComponent(url.pathname) }
  }
  if (url?.protocol === 'tcp:' && url.port !== '') {
    return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) }
  }
  throw new InvalidInputError(`${variable}: not an address that can be used: ${quote(text)}`, {
    remedy: 'write unix:///path/of/socket or tcp://host:port; forward other kinds to a Unix socket',
  })
}
