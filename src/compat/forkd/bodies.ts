import type { FastifyInstance, FastifyRequest } from 'fastify'
import { checked, type Input } from '../../api/inputs/checked.ts'
import { InvalidInputError } from '../../model/errors.ts'

/** Code to evaluate is the longest that a request carries. */
const longestBody = 4 * 1024 ** 2

/** Every body is JSON, whatever its type: `curl -d` calls it a form. An empty one has no fields. */
export function parseBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    '*',
    { parseAs: 'string', bodyLimit: longestBody },
    (_request, body, done) => {
      try {
        done(null, body === '' ? {} : JSON.parse(String(body)))
      } catch (error) {
        done(
          new InvalidInputError(`the body is not JSON: ${(error as Error).message}`, {
            remedy: 'send one JSON object',
            cause: error,
          }),
        )
      }
    },
  )
}

/** The fields of a body. Clients send null for what is not set. */
export function bodyOf<T>(what: string, input: Input<T>, { body }: FastifyRequest): T {
  return checked(what, input, withoutNulls(body ?? {}))
}

function withoutNulls(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}

/** A part of the path. */
export function named(request: FastifyRequest, field: 'tag' | 'id' | 'name'): string {
  return (request.params as Readonly<Record<string, string>>)[field] ?? ''
}
