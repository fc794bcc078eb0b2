import type { IncomingHttpHeaders } from 'node:http'

/** The ports of a sandbox that are not inside: its agent, and its code interpreter. */
const agentPort = 49_983
const interpreterPort = 49_999

/** Where the routes of these two are. */
export const agentPrefix = '/_agent/:id'
export const interpreterPrefix = '/_code/:id'

const idShape = /^e[0-9a-z]{11}$/

/**
 * Which route a request goes to: one address serves the control plane, and every port of every sandbox. The
 * clients name the sandbox in headers, and browsers in the host name.
 */
export function targetUrl(
  url: string,
  headers: IncomingHttpHeaders,
  domain: string | undefined,
): string {
  const target = ofHost(headers.host, domain) ?? ofHeaders(headers)
  if (target === null) return url
  const { id, port } = target
  if (port === agentPort) return `/_agent/${id}${url}`
  if (port === interpreterPort) return `/_code/${id}${url}`
  return `/v1/environments/${id}/ports/${port}${url}`
}

interface Target {
  readonly id: string
  readonly port: number
}

function ofHeaders(headers: IncomingHttpHeaders): Target | null {
  const { 'e2b-sandbox-id': id, 'e2b-sandbox-port': port = String(agentPort) } = headers
  if (typeof id !== 'string' || typeof port !== 'string') return null
  // A sandbox that there cannot be is as good as gone: its routes answer so.
  return { id: idShape.test(id) ? id : 'none', port: portOf(port) }
}

/** PORT-ID.DOMAIN; any domain will do if none was configured. */
function ofHost(host: string | undefined, domain: string | undefined): Target | null {
  const [name = ''] = (host ?? '').toLowerCase().split(':', 1)
  const [, port, id, rest] = /^(\d{1,5})-(e[0-9a-z]{11})\.(.+)$/.exec(name) ?? []
  if (port === undefined || id === undefined) return null
  const [wanted] = (domain ?? rest ?? '').toLowerCase().split(':', 1)
  return rest === wanted ? { id, port: portOf(port) } : null
}

function portOf(text: string): number {
  return /^\d{1,5}$/.test(text) ? Number(text) : agentPort
}
