import type { FastifyInstance } from 'fastify'
import { requestPath } from '../../api/contract/routes.ts'
import { keyOf, type Sessions } from '../sessions.ts'

/** Stops a request that is under way, by its idempotency key. The request itself then answers. */
export function addCancel(app: FastifyInstance, { underWay }: Sessions): void {
  app.delete(
    requestPath.replace('{key}', ':key'),
    { config: { operation: 'cancel', scope: 'read' } },
    async (request, reply) => {
      const { key } = request.params as { key: string }
      underWay.get(keyOf(request.session.principal, key) ?? '')?.abort()
      return await reply.code(204).send()
    },
  )
}
