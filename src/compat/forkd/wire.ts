import type { FastifyInstance } from 'fastify'
import { NotFoundError, PermissionError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { parseBodies } from './bodies.ts'
import { failureOf, Unauthenticated } from './failures.ts'
import type { ForkdHost } from './host.ts'
import { addInsideRoutes } from './routes/inside.ts'
import { addSandboxRoutes } from './routes/sandboxes.ts'
import { addSnapshotRoutes } from './routes/snapshots.ts'
import { addStatusRoutes } from './routes/status.ts'
import { addWorkspaceRoutes } from './routes/workspaces.ts'

/** The routes of forkd's controller, over environments and snapshots. */
export function addForkd(app: FastifyInstance, host: ForkdHost): void {
  parseBodies(app)
  answerFailures(app, host)
  // Load balancers ask this, without a token.
  app.get('/healthz', async () => ({ ok: true }))
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.scope === undefined) return
    const { authorization = '' } = request.headers
    const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
    if (token === undefined) {
      throw new Unauthenticated('this needs a token', {
        remedy: 'send `Authorization: Bearer TOKEN`; `forkpoint token create` makes one',
      })
    }
    try {
      host.enter(request, reply, token)
    } catch (error) {
      // A token whose scope does not suffice is known.
      const isKnown = error instanceof PermissionError && error.detail?.needed !== undefined
      if (!(error instanceof PermissionError) || isKnown) throw error
      throw new Unauthenticated(error.message, { remedy: error.remedy })
    }
  })
  addStatusRoutes(app)
  addSnapshotRoutes(app)
  addSandboxRoutes(app)
  addInsideRoutes(app)
  addWorkspaceRoutes(app)
}

function answerFailures(app: FastifyInstance, { log }: ForkdHost): void {
  app.setErrorHandler((error, request, reply) => {
    const { status, body } = failureOf(error)
    const write = status >= 500 ? log.error : log.debug
    write({ requestId: request.id, err: error, status }, `${request.method} of the forkd wire`)
    return reply.code(status).send(body)
  })
  app.setNotFoundHandler(({ method, url }) => {
    throw new NotFoundError(`no such route: ${method} ${quote(url.split('?', 1)[0])}`, {
      remedy: 'docs/forkd.md lists them',
    })
  })
}
