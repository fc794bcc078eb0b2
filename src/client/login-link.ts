import { json } from 'node:stream/consumers'
import { type LoginLink, loginLink } from '../api/contract/data/token.ts'
import { dashboardPaths } from '../api/contract/routes.ts'
import type { Scope } from '../model/values/scopes.ts'
import { type Address, formatAddress } from './address.ts'
import { parsedAnswer } from './link/answer.ts'
import { Requester } from './requester.ts'
import { type TransportOptions, transport } from './transport.ts'

export interface LinkOptions {
  readonly scope?: Scope
  readonly labels?: Readonly<Record<string, string>>
  /** how long the session is valid that the link is exchanged for */
  readonly expiresMs?: number
}

/** Asks a daemon for a link that logs a browser in. */
export async function askForLink(
  address: Address,
  options: TransportOptions,
  wanted: LinkOptions,
): Promise<LoginLink> {
  const carrier = await transport(address, options)
  try {
    const sent = { method: 'POST', path: dashboardPaths.link, body: JSON.stringify(wanted) }
    const answer: unknown = await new Requester(carrier).send(sent, json)
    const from = { where: formatAddress(address), name: 'dashboard.link' }
    return parsedAnswer(loginLink, answer, from)
  } finally {
    carrier.close()
  }
}
