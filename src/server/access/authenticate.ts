import type { FastifyRequest } from 'fastify'
import { PermissionError } from '../../model/errors.ts'
import { StatusError } from '../errors.ts'
import type { Service } from '../service.ts'
import { localPrincipal, type Principal } from './principal.ts'

/** `open`: whoever can connect is trusted. `token`: every request needs one. */
export type Trust = 'open' | 'token'

/** Who makes this request. */
export function authenticate(service: Service, trust: Trust, request: FastifyRequest): Principal {
  const token = tokenOf(request)
  if (token === null) {
    if (trust === 'open') return localPrincipal
    throw unauthorized(
      new PermissionError('this needs a token', {
        remedy: 'send `Authorization: Bearer TOKEN`; `forkpoint token create` makes one',
      }),
    )
  }
  try {
    return service.principalOf(token)
  } catch (error) {
    if (error instanceof PermissionError) throw unauthorized(error)
    throw error
  }
}

/** What a request shows; null if nothing. */
export function tokenOf({ headers }: FastifyRequest): string | null {
  const { authorization, 'x-api-key': key } = headers
  if (typeof key === 'string') return key
  if (authorization === undefined) return tokenInProtocols(headers['sec-websocket-protocol'])
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
}

/**
 * A browser cannot set headers of a WebSocket, but offer protocols: `forkpoint, bearer.TOKEN`. Unlike a cookie,
 * no other site can make it do so.
 */
function tokenInProtocols(offered: string | undefined): string | null {
  const shown = offered?.split(',').find((each) => each.trim().startsWith(bearerProtocol))
  return shown?.trim().slice(bearerProtocol.length) ?? null
}

const bearerProtocol = 'bearer.'

/** The offered protocols without the token, which nobody inside may see. */
export function openProtocols(offered: Iterable<string>): string[] {
  return [...offered].filter((each) => !each.startsWith(bearerProtocol))
}

/** Accepts the first protocol that is offered, but never answers with a token. */
export function handleProtocols(offered: ReadonlySet<string>): string | false {
  return openProtocols(offered)[0] ?? false
}

function unauthorized(error: PermissionError): StatusError {
  return new StatusError(401, error)
}
