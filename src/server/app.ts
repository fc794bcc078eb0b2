import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import websocket from '@fastify/websocket'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { NotFoundError } from '../model/errors.ts'
import type { Log } from '../model/log.ts'
import { quote } from '../model/text/quote.ts'
import { authenticate, handleProtocols, type Trust, tokenOf } from './access/authenticate.ts'
import { requireScope } from './access/principal.ts'
import type { TokenStreams } from './access/token-streams.ts'
import { addLogin, type LoginOptions } from './dashboard/login.ts'
import { addPages, isPage, sendIndex } from './dashboard/pages.ts'
import { addDescription } from './describe/add-description.ts'
import { answerOf } from './errors.ts'
import { addCommands } from './inside/commands.ts'
import { addExec } from './inside/exec.ts'
import { addFiles, addUploads } from './inside/files.ts'
import type { InsideApp } from './inside/inside-route.ts'
import { addPortBytes } from './inside/port-bytes.ts'
import { portUrl } from './inside/port-host.ts'
import { addPortLinks, linkedUrl, type PortLinks } from './inside/port-links.ts'
import { addPorts, type PortOrigin } from './inside/ports.ts'
import { addTerminals } from './inside/terminals.ts'
import { addMetrics, type Observer, observe } from './observe/observer.ts'
import { keepBodies, parseJsonBodies } from './routes/bodies.ts'
import { addCancel } from './routes/cancel.ts'
import { addConnect } from './routes/connect.ts'
import { addContractRoutes } from './routes/contract-routes.ts'
import { addEvents } from './routes/events.ts'
import { addHealth } from './routes/health.ts'
import { cutWhenClosing } from './routes/lines.ts'
import { addMcp } from './routes/mcp.ts'
import { addStop } from './routes/stop.ts'
import type { Service } from './service.ts'
import { type Sessions, sessionOf } from './sessions.ts'
import './session.ts'

export interface AppOptions {
  readonly trust: Trust
  readonly observer: Observer
  readonly streams: TokenStreams
  /** ports inside are also at PORT-ID.DOMAIN */
  readonly domain?: string | undefined
  readonly login: LoginOptions
  readonly portLinks: PortLinks
  readonly tls?: { readonly cert: string; readonly key: string }
}

/** Paths in names of environments and in proxied requests are long. */
const longestParameter = 4096
/** As much as the operations with the largest inputs need: lists of all paths of an environment. */
const longestBody = 256 * 1024 ** 2
/** Frames of the agent's protocol are far smaller. */
const longestMessage = 16 * 1024 ** 2

/** Uploads take as long as they take; headers still have to arrive within a minute. */
const serverOptions = { requestTimeout: 0 }

/** The HTTP side of one listener. */
export async function buildApp(
  service: Service,
  sessions: Sessions,
  options: AppOptions,
): Promise<FastifyInstance> {
  const { trust, observer, domain, login, portLinks } = options
  const app = await bareApp(
    options,
    (url, headers) =>
      portUrl(domain, headers.host, url) ?? linkedUrl(portLinks, url, headers) ?? url,
  )
  parseJsonBodies(app)
  addMetrics(app, observer)
  admitRequests(app, service, sessions, options)
  answerFailures(app, service.log)
  addHealth(app, service)
  addContractRoutes(app, observer.metrics)
  addEvents(app)
  addConnect(app)
  addCancel(app, sessions)
  addMcp(app)
  addLogin(app, service, login)
  addPages(app)
  if (trust === 'open') addStop(app, service)
  addDescription(app, service.version, await addInside(app, service, options))
  return app
}

/** A listener without routes, whose requests are counted, recorded, and cut when it closes. */
export async function bareApp(
  { tls, observer }: Pick<AppOptions, 'tls' | 'observer'>,
  rewrite: (url: string, headers: IncomingHttpHeaders) => string,
): Promise<FastifyInstance> {
  const app = fastify({
    genReqId: ({ headers }) => givenId(headers['x-request-id']) ?? randomUUID(),
    bodyLimit: longestBody,
    routerOptions: { maxParamLength: longestParameter },
    forceCloseConnections: 'idle',
    rewriteUrl: ({ url = '/', headers }) => rewrite(url, headers),
    serverFactory: (handler) =>
      tls === undefined
        ? createServer(serverOptions, handler)
        : createSecureServer({ ...serverOptions, ...tls }, handler),
  })
  await app.register(websocket, {
    options: { maxPayload: longestMessage, perMessageDeflate: false, handleProtocols },
  })
  cutWhenClosing(app)
  observe(app, observer)
  return app
}

/** Finds out who asks, and whether they may. */
function admitRequests(
  app: FastifyInstance,
  service: Service,
  sessions: Sessions,
  { trust, streams }: Pick<AppOptions, 'trust' | 'streams'>,
): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    const { scope } = request.routeOptions.config
    if (scope === undefined) return
    const principal = authenticate(service, trust, request)
    requireScope(principal, scope)
    const token = tokenOf(request)
    if (token !== null) streams.add(token, request, reply)
    request.session = sessionOf(sessions, principal, request, reply)
  })
  // After the answer, because the token that was changed may be that of the request itself.
  app.addHook('onResponse', async ({ routeOptions }) => {
    if (routeOptions.config.operation?.startsWith('token.')) streams.look()
  })
}

function answerFailures(app: FastifyInstance, log: Log): void {
  app.setErrorHandler((error, request, reply) => {
    const { status, headers, body } = answerOf(error, request.id)
    const write = status >= 500 ? log.error : log.debug
    write({ requestId: request.id, err: error, status }, `${request.method} ${pathOf(request)}`)
    return reply.code(status).headers(headers).send(body)
  })
  app.setNotFoundHandler((request, reply) => {
    if (isPage(request)) return sendIndex(request, reply)
    throw new NotFoundError(`no such route: ${request.method} ${quote(pathOf(request))}`, {
      remedy: '/openapi.json lists them all',
    })
  })
}

/** Everything inside environments; returns how the routes are described. */
async function addInside(
  app: FastifyInstance,
  service: Service,
  { domain, portLinks }: Pick<AppOptions, 'domain' | 'portLinks'>,
): Promise<InsideApp['all']> {
  const originOf = ({ headers, originalUrl }: FastifyRequest): PortOrigin =>
    portUrl(domain, headers.host, originalUrl) === null ? 'shared' : 'own'
  const inside: InsideApp = { app, service, all: [] }
  addExec(inside)
  addCommands(inside)
  addTerminals(inside)
  addFiles(inside)
  addPortBytes(inside)
  addPortLinks(inside, portLinks)
  await app.register(async (bytes) => {
    keepBodies(bytes)
    addUploads({ ...inside, app: bytes })
    addPorts(bytes, originOf)
  })
  return inside.all
}

function givenId(given: unknown): string | undefined {
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : undefined
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url
}
