import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod/mini'
import type { Environment } from '../../../api/handles/environment.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { parsed } from '../bodies.ts'
import { upload } from './uploads.ts'
import { pathInside } from './users.ts'

const query = z.object({ path: z.optional(z.string()), username: z.optional(z.string()) })

/** The sandbox of a request, which may be used. */
export type FindSandbox = (request: FastifyRequest, reply: FastifyReply) => Promise<Environment>

/** Whole files over HTTP, below `prefix`. */
export function addFileRoutes(app: FastifyInstance, prefix: string, find: FindSandbox): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.get(
    `${prefix}/files`,
    { config: { operation: 'e2b.read', scope: 'exec' } },
    async (request, reply) => {
      const environment = await find(request, reply)
      const { path = '', username } = parsed(query, request.query)
      const place = await pathInside(environment, path, username)
      await requireFile(environment, place)
      return await sendFile(environment, place, reply)
    },
  )
  app.post(
    `${prefix}/files`,
    { config: { operation: 'e2b.write', scope: 'exec' } },
    async (request, reply) => {
      const environment = await find(request, reply)
      const { path, username: user } = parsed(query, request.query)
      const { signal } = request.session
      return await upload(request, { environment, path, user, signal })
    },
  )
}

async function requireFile(environment: Environment, path: string): Promise<void> {
  const { type } = await environment.files.stat(path)
  if (type !== 'directory') return
  throw new InvalidInputError(`${quote(path)} is a directory`, { remedy: 'list it instead' })
}

async function sendFile(
  environment: Environment,
  path: string,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const chunks = environment.files.stream(path)
  // The first chunk decides whether this is an answer or an error.
  const first = await chunks.next()
  const bytes = first.done ? Readable.from([]) : Readable.from(rejoined(first.value, chunks))
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, {
    'content-type': 'application/octet-stream',
    ...(first.done && { 'content-length': '0' }),
  })
  // Whoever reads it sees that it is cut.
  await pipeline(bytes, raw).catch(() => raw.destroy())
  return reply
}

async function* rejoined(first: Buffer, rest: AsyncIterable<Buffer>) {
  yield first
  yield* rest
}
