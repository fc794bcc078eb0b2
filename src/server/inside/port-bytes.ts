import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createWebSocketStream } from 'ws'
import { insidePath, insidePaths } from '../../api/contract/routes.ts'
import { options } from '../../api/inputs/checked.ts'
import { upgradeRequired } from '../errors.ts'
import { type InsideApp, insideRoute } from './inside-route.ts'
import { openPort } from './ports.ts'

/** Ports that speak no HTTP, such as that of a desktop: which there are, and their bytes. */
export function addPortBytes(to: InsideApp): void {
  insideRoute(
    to,
    {
      method: 'GET',
      path: insidePaths.ports,
      operation: 'port.list',
      scope: 'exec',
      summary: 'the ports inside on which something listens',
      input: options({}),
      answers: 'json',
    },
    ({ environment }) => environment.ports.list(),
  )
  addStream(to.app)
}

/** A WebSocket whose binary messages are the bytes of one TCP connection. */
function addStream(app: FastifyInstance): void {
  const opened = new WeakMap<FastifyRequest, Duplex>()
  app.route({
    method: 'GET',
    url: insidePath(insidePaths.portBytes).replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { operation: 'port.bytes', scope: 'exec' },
    preHandler: async (request) => {
      if (!request.ws) throw upgradeRequired()
      const stream = await openPort(request)
      // A client that hangs up before it has its answer never reaches the handler.
      request.raw.socket.once('close', () => stream.destroy())
      opened.set(request, stream)
    },
    handler: async () => {},
    wsHandler: (socket, request) => {
      const stream = opened.get(request)
      if (stream === undefined) return socket.terminate()
      const client = createWebSocketStream(socket)
      // Whoever reads sees that the connection closes.
      pipeline(client, stream, client).catch(() => socket.terminate())
    },
  })
}
