import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Log } from '../../model/log.ts'
import { requireUnrestricted } from '../access/principal.ts'
import type { Audit } from './audit.ts'
import type { Metrics } from './metrics.ts'

export interface Observer {
  readonly audit: Audit
  readonly metrics: Metrics
  readonly log: Log
}

/** Counts, times and records every request that has an operation. */
export function observe(app: FastifyInstance, { audit, metrics, log }: Observer): void {
  const begun = new WeakMap<FastifyRequest, { since: number; end: (status: number) => void }>()
  const finish = (request: FastifyRequest, status: number) => {
    const { operation } = request.routeOptions.config
    const started = begun.get(request)
    if (operation === undefined || started === undefined) return
    begun.delete(request)
    started.end(status)
    const entry = {
      requestId: request.id,
      principal: request.session?.principal.id ?? null,
      operation,
      object: objectOf(request),
      result: status,
      durationMs: Math.round(performance.now() - started.since),
    }
    audit.record(entry)
    log.debug(entry, `${request.method} ${operation}`)
  }
  app.addHook('onRequest', async (request) => {
    const { operation } = request.routeOptions.config
    if (operation === undefined) return
    begun.set(request, { since: performance.now(), end: metrics.begin(operation) })
    // A WebSocket has no answer: it has ended when its connection has.
    if (request.ws) request.raw.socket.once('close', () => finish(request, 101))
  })
  app.addHook('onResponse', async (request, reply) => finish(request, reply.statusCode))
}

/** Figures of everybody, for Prometheus. */
export function addMetrics(app: FastifyInstance, { metrics }: Pick<Observer, 'metrics'>): void {
  app.get(
    '/metrics',
    { config: { operation: 'metrics', scope: 'read' } },
    async (request, reply) => {
      requireUnrestricted(request.session.principal)
      return await reply.type(metrics.type).send(await metrics.text())
    },
  )
}

/** What the path names: an environment, a snapshot or a token. */
function objectOf({ params }: FastifyRequest): string | null {
  const { id, of, reference } = (params ?? {}) as Readonly<Record<string, string | undefined>>
  return id ?? of ?? reference ?? null
}
