import type { FastifyInstance } from 'fastify'
import type { InsideRoute } from '../inside/inside-route.ts'
import { docsPage } from './docs-page.ts'
import { openApi } from './openapi.ts'

/** The description of the API, for programs and for people. It holds no secret, so it needs no token. */
export function addDescription(
  app: FastifyInstance,
  version: string,
  inside: readonly InsideRoute<unknown>[],
): void {
  let made: ReturnType<typeof openApi> | undefined
  const document = () => {
    made ??= openApi(version, inside)
    return made
  }
  app.get('/openapi.json', async () => document())
  app.get('/docs', async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
      .send(docsPage(document())),
  )
}
