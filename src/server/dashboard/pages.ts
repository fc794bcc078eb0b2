import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type WebFile, webFile, webRoot } from './web-files.ts'

/**
 * Nothing from elsewhere, no inline script or style, no plug-in, never in a frame of another page. The page
 * itself shows what ports inside serve in frames; those answers are sandboxed on their own.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const pageHeaders = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'accept-encoding',
}

/** Assets carry the hash of their content in their names. */
const forever = 'public, max-age=31536000, immutable'

/** The dashboard. It holds no secret, so it needs no token; whatever it shows does. */
export function addPages(app: FastifyInstance): void {
  app.get('/', (request, reply) => sendIndex(request, reply))
  app.get('/assets/:name', async (request, reply) => {
    const { name } = request.params as { name: string }
    return send(reply, found(request, ['assets', name]), forever)
  })
  app.get('/favicon.svg', (request, reply) =>
    send(reply, found(request, ['favicon.svg']), 'no-cache'),
  )
}

/** Whether a person opens an address below the dashboard in a browser; the page itself reads the path. */
export function isPage({ method, url, headers }: FastifyRequest): boolean {
  const isApi = url.startsWith('/v1/') || url.startsWith('/assets/')
  return method === 'GET' && !isApi && (headers.accept ?? '').includes('text/html')
}

export async function sendIndex(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return await send(reply, found(request, ['index.html']), 'no-cache')
}

function found({ headers }: FastifyRequest, parts: readonly string[]): WebFile | null {
  const root = webRoot()
  const accepts = /\bgzip\b/.test(headers['accept-encoding'] ?? '') ? 'gzip' : 'plain'
  return root === null ? null : webFile(root, parts, accepts)
}

async function send(
  reply: FastifyReply,
  file: WebFile | null,
  caching: string,
): Promise<FastifyReply> {
  reply.headers(pageHeaders)
  if (file === null) {
    return await reply
      .code(404)
      .type('text/plain; charset=utf-8')
      .header('cache-control', 'no-store')
      .send('The dashboard is not built in this checkout. `forkpoint dashboard` builds it.\n')
  }
  if (file.encoding !== null) reply.header('content-encoding', file.encoding)
  return await reply.type(file.type).header('cache-control', caching).send(file.bytes)
}
