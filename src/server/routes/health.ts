import type { FastifyInstance } from 'fastify'
import type { Service } from '../service.ts'

/** For supervisors and load balancers; neither needs a token. */
export function addHealth(app: FastifyInstance, service: Service): void {
  app.get('/healthz', async () => ({ status: 'ok', pid: process.pid }))
  app.get('/readyz', async (_request, reply) => {
    const reasons = await service.readiness()
    if (reasons.length === 0) return { status: 'ready' }
    return reply.code(503).send({ status: 'not ready', reasons })
  })
}
