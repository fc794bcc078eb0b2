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

/** Forwards HTTP and WebSockets to a port inside. */
export function addPorts(app: FastifyInstance): void {
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

async function forward(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
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
  const response = await answerOf(inside, request)
  reply.hijack()
  reply.raw.once('close', () => stream.destroy())
  reply.raw.writeHead(response.statusCode ?? 502, passedHeaders(response.headers))
  // Whoever reads it sees that it is cut.
  await pipeline(response, reply.raw).catch(() => reply.raw.destroy())
  return reply
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

async function openPort(request: FastifyRequest): Promise<Duplex> {
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
