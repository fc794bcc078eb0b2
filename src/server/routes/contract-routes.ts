import type { FastifyInstance } from 'fastify'
import { contract, type OperationName, type Output, streams } from '../../api/contract/contract.ts'
import { pathFields, type Route, routes, streamRoutes } from '../../api/contract/routes.ts'
import { isEnvironmentId, isSnapshotId } from '../../model/ids.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Session } from '../session.ts'
import { bodyOf, queryOf } from './input.ts'
import { sendBytes } from './send-bytes.ts'

/** Every operation of the contract, where the table of routes says. */
export function addContractRoutes(app: FastifyInstance, metrics: Metrics): void {
  for (const name of Object.keys(routes) as OperationName[]) addOperation(app, name, metrics)
  for (const name of Object.keys(streamRoutes) as (keyof typeof streamRoutes)[]) {
    const route = streamRoutes[name]
    for (const path of route.paths) {
      app.route({
        method: route.method,
        url: fastifyPath(path),
        config: { operation: name, scope: streams[name].scope },
        handler: async (request, reply) => {
          const { session } = request
          const input = await inputOf(session, route, path, request)
          const { signal } = session
          await sendBytes(
            request,
            reply,
            await session.control.stream(name, input as never, { signal }),
          )
        },
      })
    }
  }
}

function addOperation(app: FastifyInstance, name: OperationName, metrics: Metrics): void {
  const route = routes[name]
  for (const path of route.paths) {
    app.route({
      method: route.method,
      url: fastifyPath(path),
      config: { operation: name, scope: contract[name].scope },
      handler: async (request, reply) => {
        const { session } = request
        const input = await inputOf(session, route, path, request)
        const { signal, idempotencyKey } = session
        const answer = await session.control.call(name, input as never, { signal, idempotencyKey })
        const pauseMs = name === 'environment.snapshot' ? pauseIn(answer) : undefined
        if (pauseMs !== undefined) metrics.paused(pauseMs)
        return answer === null ? reply.code(204).send() : answer
      },
    })
  }
}

/** How long a snapshot that was just taken stopped its environment. */
function pauseIn(answer: unknown): number | undefined {
  const { timing } = (answer ?? {}) as Partial<Output<'environment.snapshot'>>
  return timing?.pauseMs
}

/** `{id}` as fastify writes it. */
function fastifyPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

interface Given {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

/** The input of the operation, from the parts of the request. Its own schema checks it later. */
async function inputOf(session: Session, route: Route, path: string, request: Given) {
  const params = request.params as Readonly<Record<string, string>>
  const others = route.method === 'POST' ? bodyOf(request.body) : queryOf(request.query)
  const input: Record<string, unknown> = { ...others }
  for (const field of pathFields(path)) {
    const given = params[field] ?? ''
    input[field] = field === 'reference' ? given : await idOf(session, path, given)
  }
  return input
}

/** Names and shortened ids work in paths, too. */
async function idOf({ control }: Session, path: string, given: string): Promise<string> {
  if (isEnvironmentId(given) || isSnapshotId(given)) return given
  const name = path.startsWith('/v1/snapshots/') ? 'snapshot.get' : 'environment.get'
  return (await control.call(name, { reference: given })).id
}
