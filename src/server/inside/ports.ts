import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { WebSocket } from 'ws'
import { checked } from '../../api/inputs/checked.ts'
import { portInput } from '../../api/inputs/file-inputs.ts'
import { BackendError, ConnectionError } from '../../model/errors.ts'
import { openProtocols } from '../access/authenticate.ts'
import { isByLink } from './port-links.ts'

/** Headers of one connection, and those that belong to us: code inside must never see a token. */
const ownHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-api-key',
  'host',
])

/** Of one message that code inside sends. */
const longestMessage = 16 * 1024 ** 2

/**
 * Code inside is hostile. Where it is served below the origin of the dashboard, a browser has to treat it as if it
 * had an origin of its own, whichever way it gets there.
 */
const sandbox = 'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads'

/** `shared`: it is that of the dashboard; `own`: whoever opens the port does so by a host name of its own. */
export type PortOrigin = 'shared' | 'own'

/** Forwards HTTP and WebSockets to a port inside. */
export function addPorts(
  app: FastifyInstance,
  originOf: (request: FastifyRequest) => PortOrigin,
): void {
  const forward = forwarder(originOf)
  const opened = new WeakMap<FastifyRequest, WebSocket>()
  for (const url of ['/v1/environments/:id/ports/:port', '/v1/environments/:id/ports/:port/*']) {
    app.route({
      method: ['DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'],
      url,
      config: { operation: 'port', scope: 'exec' },
      handler: forward,
    })
    app.route({
      method: 'GET',
      url,
      exposeHeadRoute: false,
      config: { operation: 'port', scope: 'exec' },
      // Before the answer, so that a failure is an ordinary one with its status.
      preHandler: async (request) => {
        if (request.ws) opened.set(request, await openSocket(request))
      },
      handler: forward,
      wsHandler: (client, request) => {
        const inside = opened.get(request)
        if (inside === undefined) return client.terminate()
        relay(client, inside)
        relay(inside, client)
        inside.resume()
      },
    })
  }
}

type Forward = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

function forwarder(originOf: (request: FastifyRequest) => PortOrigin): Forward {
  return async (request, reply) => {
    const { response, stream } = await sendInside(request)
    const headers = passedHeaders(response.headers)
    if (originOf(request) === 'shared') fence(headers, request)
    reply.hijack()
    reply.raw.once('close', () => stream.destroy())
    reply.raw.writeHead(response.statusCode ?? 502, headers)
    // Whoever reads it sees that it is cut.
    await pipeline(response, reply.raw).catch(() => reply.raw.destroy())
    return reply
  }
}

/** Beside the policy of the program inside, which stays in force. */
function fence(headers: Record<string, string | string[]>, request: FastifyRequest): void {
  const own = headers['content-security-policy'] ?? []
  headers['content-security-policy'] = [sandbox, ...[own].flat()]
  if (!isByLink(request)) return
  // The address is the secret that opens the port.
  headers['referrer-policy'] = 'no-referrer'
  // In a sandbox, scripts and data of the page itself count as those of another origin.
  headers['access-control-allow-origin'] = '*'
  // It would reach every other port, too.
  delete headers['set-cookie']
}

async function sendInside(request: FastifyRequest) {
  const stream = await openPort(request)
  const inside = httpRequest({
    createConnection: () => stream,
    method: request.method,
    path: pathInside(request),
    headers: { ...passedHeaders(request.headers), host: hostInside(request), connection: 'close' },
  })
  const body = request.body as Readable | undefined
  const sent = body === undefined ? inside.end() : pipeline(body, inside)
  // If it fails, the answer below does, too.
  if (sent instanceof Promise) sent.catch(() => {})
  return { response: await answerOf(inside, request), stream }
}

async function answerOf(
  inside: ReturnType<typeof httpRequest>,
  request: FastifyRequest,
): Promise<IncomingMessage> {
  try {
    const [response]: IncomingMessage[] = await once(inside, 'response')
    // Code inside chooses the status, and Node accepts no other.
    const { statusCode = 0 } = response ?? {}
    if (response !== undefined && statusCode >= 200 && statusCode <= 599) return response
  } catch (error) {
    throw noAnswer(request, error)
  }
  throw noAnswer(request, new Error('not an answer of HTTP'))
}

/** A WebSocket to the port, which waits until somebody listens to its messages. */
async function openSocket(request: FastifyRequest): Promise<WebSocket> {
  const stream = await openPort(request)
  request.raw.socket.once('close', () => stream.destroy())
  const offered = request.headers['sec-websocket-protocol']?.split(',').map((p) => p.trim())
  const protocols = openProtocols(offered ?? [])
  const inside = new WebSocket(`ws://${hostInside(request)}${pathInside(request)}`, protocols, {
    createConnection: () => stream,
    headers: socketHeaders(request.headers),
    perMessageDeflate: false,
    maxPayload: longestMessage,
  })
  inside.once('open', () => inside.pause())
  try {
    await once(inside, 'open')
    return inside
  } catch (error) {
    throw noAnswer(request, error)
  }
}

/** Messages as they are. */
function relay(from: WebSocket, to: WebSocket): void {
  from.on('message', (data, isBinary) => {
    // One message at a time: a slow receiver slows the sender.
    from.pause()
    to.send(data, { binary: isBinary }, () => from.resume())
  })
  from.on('close', () => to.close())
  from.on('error', () => to.terminate())
}

/** A connection to the port that the path names. */
export async function openPort(request: FastifyRequest): Promise<Duplex> {
  const { id, port } = request.params as { id: string; port: string }
  const environment = await request.session.forkpoint.get(id)
  try {
    return await environment.ports.connect(checked('port', portInput, Number(port)))
  } catch (error) {
    // Nobody listens there, which is no failure of the daemon.
    throw error instanceof BackendError ? noAnswer(request, error) : error
  }
}

function pathInside({ url, params }: FastifyRequest): string {
  const { id, port } = params as { id: string; port: string }
  const prefix = `/v1/environments/${encodeURIComponent(id)}/ports/${port}`
  const rest = url.startsWith(prefix)
    ? url.slice(prefix.length)
    : `/${url.split('/').slice(6).join('/')}`
  return rest.startsWith('/') ? rest : `/${rest}`
}

function hostInside({ params }: FastifyRequest): string {
  return `localhost:${(params as { port: string }).port}`
}

/** Authorization is ours unless the token came in X-API-Key. */
function passedHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    const isToken = name === 'authorization' && headers['x-api-key'] === undefined
    if (value !== undefined && !ownHeaders.has(name) && !isToken) passed[name] = value
  }
  return passed
}

function socketHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const entries = Object.entries(passedHeaders(headers))
  return Object.fromEntries(entries.filter(([name]) => !name.startsWith('sec-websocket-')))
}

function noAnswer({ params }: FastifyRequest, cause: unknown): ConnectionError {
  const { port } = params as { port: string }
  return new ConnectionError(`port ${port} inside did not answer: ${(cause as Error).message}`, {
    happened: 'maybe',
    remedy: 'check that a program inside listens on it and speaks HTTP',
    cause,
  })
}
