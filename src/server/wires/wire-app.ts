import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Principal, requireScope } from '../access/principal.ts'
import { type AppOptions, bareApp } from '../app.ts'
import { addPorts } from '../inside/ports.ts'
import { keepBodies } from '../routes/bodies.ts'
import type { Service } from '../service.ts'
import { type Sessions, sessionOf } from '../sessions.ts'
import type { Wire, WireAccess } from './wire.ts'

/** The HTTP side of one wire. */
export async function buildWireApp(
  service: Service,
  sessions: Sessions,
  options: Omit<AppOptions, 'trust' | 'login' | 'portLinks'>,
  wire: Wire,
): Promise<FastifyInstance> {
  const app = await bareApp(options, (url, headers) => wire.rewriteUrl?.(url, headers) ?? url)
  await wire.add(app, accessOf(service, sessions, options))
  return app
}

function accessOf(
  service: Service,
  sessions: Sessions,
  { streams }: Pick<AppOptions, 'streams'>,
): WireAccess {
  const admit = (request: FastifyRequest, reply: FastifyReply, principal: Principal) => {
    const { scope } = request.routeOptions.config
    if (scope !== undefined) requireScope(principal, scope)
    request.session = sessionOf(sessions, principal, request, reply)
    return request.session
  }
  return {
    log: service.log,
    enter: (request, reply, token) => {
      const principal = service.principalOf(token)
      streams.add(token, request, reply)
      return admit(request, reply, principal)
    },
    enterAs: (request, reply, id) => {
      const principal = service.principalById(id)
      streams.addById(id, request, reply)
      return admit(request, reply, principal)
    },
    principalIds: service.principalIds,
    onBehalfOf: sessions.onBehalfOf,
    addPorts: (app) => {
      void app.register(async (bytes) => {
        keepBodies(bytes)
        addPorts(bytes, () => 'own')
      })
    },
  }
}
