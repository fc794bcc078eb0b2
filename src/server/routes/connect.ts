import { type Duplex, pipeline } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createWebSocketStream } from 'ws'
import { connectPath } from '../../api/contract/routes.ts'
import { upgradeRequired } from '../errors.ts'

/** Streams that were opened before the answer, by the request that asked for them. */
const opened = new WeakMap<FastifyRequest, Duplex>()

/** The data plane: a WebSocket that is joined to the agent's byte stream. */
export function addConnect(app: FastifyInstance): void {
  app.route({
    method: 'GET',
    url: connectPath.replace('{id}', ':id'),
    config: { operation: 'connect', scope: 'exec' },
    // Before the answer, so that a failure is an ordinary one with its status.
    preHandler: async (request) => {
      const { control, signal } = request.session
      const { id: reference } = request.params as { id: string }
      const { id } = await control.call('environment.get', { reference })
      if (!request.ws) throw upgradeRequired()
      const agent = await control.connect(id, { signal })
      // A client that hangs up before it has its answer never reaches the handler.
      request.raw.socket.once('close', () => agent.destroy())
      opened.set(request, agent)
    },
    handler: async () => {},
    wsHandler: (socket, request) => {
      const agent = opened.get(request)
      if (agent === undefined) return socket.terminate()
      const client = createWebSocketStream(socket)
      pipeline(agent, client, () => socket.terminate())
      pipeline(client, agent, () => agent.destroy())
    },
  })
}
