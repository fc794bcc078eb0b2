import type { FastifyInstance } from 'fastify'
import { InvalidInputError } from '../../model/errors.ts'

/** Every body is JSON, whatever its type: `curl -d` calls it a form. */
export function parseJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    if (body === '') return done(null, undefined)
    try {
      done(null, JSON.parse(String(body)))
    } catch (error) {
      done(
        new InvalidInputError(`the body is not JSON: ${(error as Error).message}`, {
          remedy: 'send one JSON object',
          cause: error,
        }),
      )
    }
  })
}

/** Every body is a stream of bytes, for the routes of a part of the server. */
export function keepBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
}
