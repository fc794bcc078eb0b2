import type { FastifyInstance } from 'fastify'
import { type McpSessions, mcpSessions } from '../../mcp/http.ts'

/** Messages of the protocol are far smaller than the largest file that a tool writes. */
const longestBody = 4 * 1024 ** 2

/** The Model Context Protocol, as streamable HTTP. */
export function addMcp(app: FastifyInstance): void {
  const sessions: McpSessions = mcpSessions()
  app.addHook('preClose', () => sessions[Symbol.asyncDispose]())
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    bodyLimit: longestBody,
    // What a tool does needs the scope of the operations that it uses.
    config: { operation: 'mcp', scope: 'read' },
    handler: async (request, reply) => {
      const { principal, forkpoint } = request.session
      const asked = {
        owner: JSON.stringify(principal),
        forkpoint,
        query: new URL(request.url, 'http://localhost').searchParams,
        body: request.body,
        raw: request.raw,
      }
      const session = await sessions.find(asked)
      reply.hijack()
      const { growing } = request.server
      growing.add(reply.raw)
      reply.raw.once('close', () => growing.delete(reply.raw))
      await session.answer(asked, reply.raw)
    },
  })
}
