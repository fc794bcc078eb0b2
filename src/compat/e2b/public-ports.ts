import type { FastifyInstance } from 'fastify'
import { NotFoundError } from '../../model/errors.ts'
import { holderOf } from './access.ts'
import { gone, unauthenticated } from './failures.ts'
import type { E2bHost, E2bOptions, KeyHolder } from './host.ts'
import { ownLabels, ownSandbox } from './owned.ts'
import { requireAwake } from './sleeping.ts'

/** Only reads labels, to learn whose sandbox it is. */
const porter: KeyHolder = { id: 'e2b', name: null, scope: 'read', labels: {} }

/**
 * Ports inside, as `getHost` names them. As with E2B, whoever knows the host name reaches them, unless the
 * sandbox was made with `allowPublicTraffic: false`; then the traffic token of the sandbox is needed. They
 * are served on behalf of the key that made the sandbox, so that they end with it.
 */
export function addPortRoutes(app: FastifyInstance, host: E2bHost, { secret }: E2bOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    const { id = '' } = (request.params ?? {}) as { id?: string }
    const { labels } = await infoOf(host, id)
    const maker = labels[ownLabels.key]
    if (maker === undefined) throw gone(id)
    const { 'e2b-traffic-access-token': token } = request.headers
    if (labels[ownLabels.public] === 'no' && typeof token !== 'string') {
      throw unauthenticated('the ports of this sandbox need its traffic token')
    }
    const holder = typeof token === 'string' ? holderOf(secret, token, id) : maker
    // Code inside must not see it.
    delete request.headers['e2b-traffic-access-token']
    delete request.headers['x-access-token']
    const visit = host.enterAs(request, reply, holder)
    requireAwake(await ownSandbox(visit, id))
  })
  host.addPorts(app)
}

async function infoOf(host: E2bHost, id: string) {
  try {
    return (await host.onBehalfOf(porter).get(id)).lastInfo
  } catch (error) {
    throw error instanceof NotFoundError ? gone(id) : error
  }
}
