import type { FastifyInstance } from 'fastify'
import { InvalidInputError } from '../../../model/errors.ts'
import { bufferBodies, jsonOf } from '../bodies.ts'
import { failureOf } from '../failures.ts'
import { agentPrefix } from '../targets.ts'
import type { FindSandbox } from './file-routes.ts'
import { filesystemService } from './filesystem-service.ts'
import { Followers } from './followers.ts'
import { KnownProcesses } from './known-processes.ts'
import { processService } from './process-service.ts'
import { errorJson, framedMessage, rpcStatus } from './rpc.ts'
import type { StreamCall, Unary } from './service.ts'
import { Watchers } from './watches.ts'

/** Of one message: what is typed, and the variables of a command. */
const longestMessage = 16 * 1024 ** 2

/** What the clients call the agent of a sandbox. */
export function addAgentRoutes(app: FastifyInstance, find: FindSandbox): void {
  bufferBodies(app, longestMessage)
  answerAsRpc(app)
  app.get(
    `${agentPrefix}/health`,
    { config: { operation: 'e2b.health', scope: 'read' } },
    async (request, reply) => {
      await find(request, reply)
      return reply.code(204).send()
    },
  )
  addService(app, find, 'process.Process', processService(new KnownProcesses(), new Followers()))
  addService(app, find, 'filesystem.Filesystem', filesystemService(new Watchers()))
}

interface Service {
  readonly unary: Readonly<Record<string, Unary>>
  readonly streams: Readonly<Record<string, StreamCall>>
}

function addService(
  app: FastifyInstance,
  find: FindSandbox,
  name: string,
  { unary, streams }: Service,
): void {
  const config = (method: string) =>
    ({ operation: `e2b.${name.split('.', 1)}.${method}`, scope: 'exec' }) as const
  for (const [method, call] of Object.entries(unary)) {
    app.post(
      `${agentPrefix}/${name}/${method}`,
      { config: config(method) },
      async (request, reply) => {
        const environment = await find(request, reply)
        const message = jsonOf(bytesOf(request.body))
        const { signal } = request.session
        return await call({ environment, request, message, signal })
      },
    )
  }
  for (const [method, call] of Object.entries(streams)) {
    app.post(
      `${agentPrefix}/${name}/${method}`,
      { config: config(method) },
      async (request, reply) => {
        const environment = await find(request, reply)
        const message = framedMessage(request.body)
        const { signal } = request.session
        return await call({ environment, request, reply, message, signal })
      },
    )
  }
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body
  throw new InvalidInputError('the request has no body', { remedy: 'send one JSON object' })
}

function answerAsRpc(app: FastifyInstance): void {
  app.setErrorHandler((error, _request, reply) => {
    const failure = failureOf(error)
    return reply
      .code(rpcStatus(failure))
      .header('content-type', 'application/json')
      .send(JSON.stringify(errorJson(failure)))
  })
}
