import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Environment } from '../../api/handles/environment.ts'
import { NotFoundError, PermissionError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { holderOf } from './access.ts'
import { addAgentRoutes } from './agent/agent-routes.ts'
import { addFileRoutes } from './agent/file-routes.ts'
import { bufferBodies } from './bodies.ts'
import type { Control } from './control/control.ts'
import { addListRoutes } from './control/list-routes.ts'
import { addSandboxRoutes } from './control/sandbox-routes.ts'
import { addSnapshotRoutes } from './control/snapshot-routes.ts'
import { failureOf, gone, unauthenticated } from './failures.ts'
import type { E2bHost, E2bOptions } from './host.ts'
import { addInterpreterRoutes } from './interpreter/interpreter-routes.ts'
import { ownSandbox } from './owned.ts'
import { addPortRoutes } from './public-ports.ts'
import { findSigned } from './signed-files.ts'
import { requireAwake } from './sleeping.ts'
import { agentPrefix, targetUrl } from './targets.ts'

export type { E2bHost, E2bOptions } from './host.ts'

/** Of one request to the control plane. */
const longestRequest = 1024 ** 2

/** Where a request goes, before routes are looked up. */
export function e2bUrl(domain: string | undefined) {
  return (url: string, headers: FastifyRequest['headers']) => targetUrl(url, headers, domain)
}

/** Everything that the clients of E2B call: the control plane, and sandboxes. */
export async function addE2b(
  app: FastifyInstance,
  host: E2bHost,
  options: E2bOptions,
): Promise<void> {
  answerFailures(app, host)
  const find = finder(host, options)
  await app.register(async (control) => addControl(control, host, options))
  await app.register(async (agent) => addAgentRoutes(agent, find))
  await app.register(async (code) => addInterpreterRoutes(code, find))
  await app.register(async (files) => {
    addFileRoutes(files, agentPrefix, find)
    // URLs of `downloadUrl` and `uploadUrl` name no sandbox; their signature does.
    addFileRoutes(files, '', findSigned(host, options))
  })
  await app.register(async (ports) => addPortRoutes(ports, host, options))
}

function addControl(app: FastifyInstance, host: E2bHost, options: E2bOptions): void {
  bufferBodies(app, longestRequest)
  const control: Control = {
    ...options,
    onBehalfOf: host.onBehalfOf,
    visit: ({ session }) => session,
    domainOf: ({ raw }) => options.domain ?? `localhost:${raw.socket.localPort}`,
  }
  app.addHook('onRequest', async (request, reply) => {
    const key = request.headers['x-api-key']
    if (typeof key !== 'string') throw unauthenticated('this needs an API key')
    try {
      host.enter(request, reply, key)
    } catch (error) {
      // A key whose scope does not suffice is known.
      const isKnown = error instanceof PermissionError && error.detail?.needed !== undefined
      if (!(error instanceof PermissionError) || isKnown) throw error
      throw unauthenticated(error.message)
    }
  })
  addSandboxRoutes(control, app)
  addListRoutes(control, app)
  addSnapshotRoutes(control, app)
}

/** The sandbox that a request names, if its access token is one of it, and if it runs or may be woken. */
function finder(host: E2bHost, { secret }: E2bOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<Environment> => {
    const { id } = request.params as { id: string }
    const { 'x-access-token': access, 'e2b-traffic-access-token': traffic } = request.headers
    const token = access ?? traffic
    if (typeof token !== 'string') throw unauthenticated('this needs the access token of a sandbox')
    const visit = host.enterAs(request, reply, holderOf(secret, token, id))
    const sandbox = await ownSandbox(visit, id).catch((error: unknown) => {
      throw error instanceof NotFoundError ? gone(id) : error
    })
    return requireAwake(sandbox)
  }
}

function answerFailures(app: FastifyInstance, { log }: E2bHost): void {
  app.setErrorHandler((error, request, reply) => {
    const { status, message } = failureOf(error)
    const write = status === 500 ? log.error : log.debug
    write({ requestId: request.id, err: error, status }, `${request.method} of the E2B wire`)
    return reply.code(status).send({ code: status, message })
  })
  app.setNotFoundHandler(({ method, url }) => {
    throw new NotFoundError(`no such route: ${method} ${quote(url.split('?', 1)[0])}`, {
      remedy: 'docs/e2b.md lists what the clients can call',
    })
  })
}
