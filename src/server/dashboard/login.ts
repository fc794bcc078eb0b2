import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { dashboardPaths } from '../../api/contract/routes.ts'
import { checked, fields, options } from '../../api/inputs/checked.ts'
import { token } from '../../api/inputs/token-inputs.ts'
import * as v from '../../api/inputs/values.ts'
import { InvalidInputError, PermissionError } from '../../model/errors.ts'
import { scopesOf } from '../../model/values/scopes.ts'
import { requireUnrestricted } from '../access/principal.ts'
import { StatusError } from '../errors.ts'
import { bodyOf } from '../routes/input.ts'
import type { Service } from '../service.ts'
import type { LoginLinks } from './links.ts'

/** As long as a working day; whoever works on makes another link. */
const sessionMs = 12 * 60 * 60_000
const longestCode = 64

export const linkInput = options({
  scope: token.scope,
  labels: token.labels,
  expiresMs: token.expiresMs,
})
export const loginInput = fields({ code: v.text(longestCode) }, {})

export interface LoginOptions {
  readonly links: LoginLinks
  /** where a browser reaches this daemon */
  readonly addresses: () => readonly string[]
}

/**
 * How a person gets into the dashboard. `forkpoint dashboard` asks for a link; the page that it opens
 * exchanges it for a token, which is an ordinary one: it is listed, it expires, and it can be removed.
 */
export function addLogin(
  app: FastifyInstance,
  service: Service,
  { links, addresses }: LoginOptions,
): void {
  app.post(
    dashboardPaths.link,
    { config: { operation: 'dashboard.link', scope: 'admin' } },
    async (request, reply) => {
      requireUnrestricted(request.session.principal)
      const given = checked('dashboard.link', linkInput, bodyOf(request.body))
      const { scope = 'admin', labels = {}, expiresMs = sessionMs } = given
      const made = links.make({ scope, labels, expiresMs })
      reply.header('cache-control', 'no-store')
      return { ...made, addresses: addresses() }
    },
  )
  app.post(
    dashboardPaths.login,
    { config: { operation: 'dashboard.login' } },
    async (request, reply) => {
      const { code } = checked('dashboard.login', loginInput, bodyOf(request.body))
      const grant = used(links, code)
      const name = `dashboard-${randomBytes(4).toString('hex')}`
      reply.header('cache-control', 'no-store')
      return await service.control.call('token.create', { ...grant, name })
    },
  )
  addSelf(app, service)
}

/** What a token may do, and giving it back. */
function addSelf(app: FastifyInstance, service: Service): void {
  app.get(
    dashboardPaths.principal,
    { config: { operation: 'principal', scope: 'read' } },
    async ({ session: { principal } }) => {
      const { id, name, scope, labels } = principal
      return { id, name, scopes: scopesOf(scope), labels }
    },
  )
  app.post(
    dashboardPaths.logout,
    { config: { operation: 'dashboard.logout', scope: 'read' } },
    async ({ session: { principal } }, reply) => {
      if (principal.id === 'local') {
        throw new InvalidInputError(
          'the Unix socket needs no token, so there is none to give back',
          {
            remedy: 'send the request over TCP, with the token that it is about',
          },
        )
      }
      await service.control.call('token.remove', { reference: principal.id })
      return await reply.code(204).send()
    },
  )
}

function used(links: LoginLinks, code: string) {
  try {
    return links.use(code)
  } catch (error) {
    if (error instanceof PermissionError) throw new StatusError(401, error)
    throw error
  }
}
