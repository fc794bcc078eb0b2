import type { FastifyInstance } from 'fastify'
import { requireUnrestricted } from '../access/principal.ts'
import type { Service } from '../service.ts'

/** Ends the daemon; only on the Unix socket. */
export function addStop(app: FastifyInstance, service: Service): void {
  app.post(
    '/v1/stop',
    { config: { operation: 'stop', scope: 'admin' } },
    async (request, reply) => {
      requireUnrestricted(request.session.principal)
      service.stop()
      return await reply.code(202).send()
    },
  )
}
