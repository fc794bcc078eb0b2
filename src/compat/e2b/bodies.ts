import type { FastifyInstance, FastifyRequest } from 'fastify'
import type * as z from 'zod/mini'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

/** Every body is a buffer of bounded length, and whoever wants JSON parses it. */
export function bufferBodies(app: FastifyInstance, longest: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: longest }, (_request, body, done) =>
    done(null, body),
  )
}

/** What a schema makes of a request's JSON; fields that it does not know are left out. */
export function jsonBody<T extends z.ZodMiniType>(schema: T, { body }: FastifyRequest): z.infer<T> {
  return parsed(schema, body === undefined || body === null ? {} : jsonOf(body as Buffer))
}

export function jsonOf(bytes: Buffer): unknown {
  if (bytes.length === 0) return {}
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw new InvalidInputError(`the body is not JSON: ${(error as Error).message}`, {
      remedy: 'send one JSON object',
      cause: error,
    })
  }
}

export function parsed<T extends z.ZodMiniType>(schema: T, given: unknown): z.infer<T> {
  const { success, data, error } = schema.safeParse(given)
  if (success) return data
  const [issue] = error.issues
  const where = issue?.path.join('.') ?? ''
  throw new InvalidInputError(
    `the request is not acceptable: ${where === '' ? quote(given) : where}: ${issue?.message}`,
    { remedy: 'use one of the clients that docs/e2b.md lists' },
  )
}
