import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Environment } from '../../api/handles/environment.ts'
import { checked, type Input } from '../../api/inputs/checked.ts'
import type { Scope } from '../../model/values/scopes.ts'
import { bodyOf, queryOf } from '../routes/input.ts'
import type { Service } from '../service.ts'
import { once } from './once.ts'

/** What a request may send and get, for the route itself and for its description. */
export interface InsideRoute<T> {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** below the environment, such as `exec` or `commands/{command}` */
  readonly path: string
  /** the name in the audit log and in metrics */
  readonly operation: string
  readonly scope: Scope
  readonly summary: string
  /** of the query, and for POST of the body */
  readonly input: Input<T>
  /** `bytes`: the body of the request is a stream, and the input is in the query */
  readonly sends?: 'json' | 'bytes'
  readonly answers: 'json' | 'bytes' | 'lines' | 'nothing'
  /** `own`: it honours the idempotency key itself */
  readonly retry?: 'own'
}

export interface Inside<T> {
  readonly environment: Environment
  readonly input: T
  readonly params: Readonly<Record<string, string>>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly signal: AbortSignal
}

/** Where routes of this kind are added. */
export interface InsideApp {
  readonly app: FastifyInstance
  readonly service: Service
  /** every one of them, as it is described */
  readonly all: InsideRoute<unknown>[]
}

/** A route to something inside an environment, for clients that do not speak the agent's protocol. */
export function insideRoute<T>(
  { app, service, all }: InsideApp,
  route: InsideRoute<T>,
  handle: (inside: Inside<T>) => Promise<unknown>,
): void {
  all.push(route)
  const isBody = route.method === 'POST' && route.sends !== 'bytes'
  app.route({
    method: route.method,
    url: `/v1/environments/:id/${route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    config: { operation: route.operation, scope: route.scope },
    handler: async (request, reply) => {
      const { session } = request
      const params = request.params as Readonly<Record<string, string>>
      const given = isBody ? bodyOf(request.body) : queryOf(request.query)
      const input = checked(route.operation, route.input, given)
      const environment = await session.forkpoint.get(params.id ?? '')
      const { signal } = session
      const work = () => handle({ environment, input, params, request, reply, signal })
      const answer = await (route.retry === 'own' ? work() : once(service, request, input, work))
      if (route.answers === 'json') return answer
      return route.answers === 'nothing' ? await reply.code(204).send() : reply
    },
  })
}
