import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { insidePaths } from '../../api/contract/routes.ts'
import { fields } from '../../api/inputs/checked.ts'
import { portInput } from '../../api/inputs/file-inputs.ts'
import { NotFoundError } from '../../model/errors.ts'
import { tokenOf } from '../access/authenticate.ts'
import { type Codes, codes } from '../access/codes.ts'
import { type InsideApp, insideRoute } from './inside-route.ts'

/** What a link opens: one port, for as long as the token that asked for it is valid. */
interface OpenPort {
  readonly id: string
  readonly port: number
  readonly token: string | null
}

export type PortLinks = Codes<OpenPort>

/** As long as a session of the dashboard. */
const lifetimeMs = 12 * 60 * 60_000
const mostLinks = 512

const prefix = '/open/'

export function portLinks(): PortLinks {
  return codes({ lifetimeMs, most: mostLinks })
}

/** Whether the request came by a link. Other code than that of the port may share its origin. */
export function isByLink({ originalUrl }: { readonly originalUrl: string }): boolean {
  return originalUrl.startsWith(prefix)
}

/**
 * A browser that follows a link sends no token, and a page inside must never get one. So the dashboard asks for an
 * address that opens one port and nothing else: `/open/CODE/`.
 */
export function addPortLinks(to: InsideApp, links: PortLinks): void {
  insideRoute(
    to,
    {
      method: 'POST',
      path: insidePaths.portLinks,
      operation: 'port.link',
      scope: 'exec',
      summary: 'an address that opens one port inside in a browser, for twelve hours',
      input: fields({ port: portInput }, {}),
      answers: 'json',
    },
    async ({ environment: { id }, input: { port }, request }) => {
      const { code, expiresAt } = links.make({ id, port, token: tokenOf(request) })
      return { path: `${prefix}${code}/`, expiresAt }
    },
  )
  addUnknown(to.app)
}

/** The path of the port that a link opens, as its maker would ask for it; null for any other address. */
export function linkedUrl(
  links: PortLinks,
  url: string,
  headers: IncomingHttpHeaders,
): string | null {
  const [, code = '', rest = ''] = /^\/open\/([\w-]+)(\/.*)$/s.exec(url) ?? []
  const open = code === '' ? null : links.look(code)
  if (open === null || isOfThePage(headers)) return null
  const { id, port, token } = open
  // Nothing else that this browser has may speak for it, and cookies of other ports are no business of this one.
  for (const name of ['authorization', 'x-api-key', 'cookie']) delete headers[name]
  if (token !== null) headers['x-api-key'] = token
  return `/v1/environments/${id}/ports/${port}${rest}`
}

/** The page opens links in frames and tabs. In its own scripts and styles, they could only be an attack. */
function isOfThePage(headers: IncomingHttpHeaders): boolean {
  const opened = ['document', 'iframe']
  const { 'sec-fetch-site': site, 'sec-fetch-dest': use = '' } = headers
  return site === 'same-origin' && !opened.includes(String(use))
}

function addUnknown(app: FastifyInstance): void {
  app.get(`${prefix}*`, async () => {
    throw new NotFoundError('this link is unknown, or older than twelve hours', {
      remedy: 'open the port again in the dashboard',
    })
  })
}
