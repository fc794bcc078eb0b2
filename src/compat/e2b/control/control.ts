import type { FastifyRequest } from 'fastify'
import type { E2bHost, E2bOptions, Visit } from '../host.ts'

/** What the routes of the control plane share. */
export interface Control extends E2bOptions, Pick<E2bHost, 'onBehalfOf'> {
  visit(request: FastifyRequest): Visit
  /** what `getHost` puts behind the port and the id */
  domainOf(request: FastifyRequest): string
}
