import type { FastifyInstance } from 'fastify'
import { version } from '../../../model/values/version.ts'
import { visitOf } from '../host.ts'
import { isActive } from '../shapes/sandbox-json.ts'

/** The version of forkd whose routes these are. */
const wireVersion = '0.5.0'

export function addStatusRoutes(app: FastifyInstance): void {
  app.get('/version', { config: { operation: 'forkd.version', scope: 'read' } }, async () => ({
    version: wireVersion,
    api: 'v1',
    forkpoint: version,
  }))
  app.get(
    '/metrics',
    { config: { operation: 'forkd.metrics', scope: 'read' } },
    async (request, reply) => {
      const { forkpoint, signal } = visitOf(request)
      const [snapshots, environments] = await Promise.all([
        forkpoint.snapshots({ signal }),
        forkpoint.list({ signal }),
      ])
      const active = environments.filter(({ lastInfo }) => isActive(lastInfo)).length
      const text = [
        ...gauge('forkd_snapshots_total', 'snapshots that can be named', snapshots.length),
        ...gauge('forkd_sandboxes_active', 'sandboxes that live', active),
        ...gauge('forkd_build_info', 'which version this is', 1, `{version="${wireVersion}"}`),
      ]
      return await reply.type('text/plain; version=0.0.4').send(`${text.join('\n')}\n`)
    },
  )
}

function gauge(name: string, help: string, value: number, labels = ''): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name}${labels} ${value}`]
}
