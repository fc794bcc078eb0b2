import type { FastifyRequest } from 'fastify'
import * as z from 'zod/mini'
import { accessToken } from './access.ts'
import type { FindSandbox } from './agent/file-routes.ts'
import { parsed } from './bodies.ts'
import { unauthenticated } from './failures.ts'
import type { E2bHost, E2bOptions, KeyHolder } from './host.ts'
import { ownLabels, ownSandbox } from './owned.ts'
import { isSignedWith, requireFresh, type SignedUrl } from './signature.ts'
import { requireAwake } from './sleeping.ts'

const query = z.object({
  path: z.optional(z.string()),
  username: z.optional(z.string()),
  signature: z.optional(z.string().check(z.maxLength(100))),
  signature_expiration: z.optional(z.string().check(z.maxLength(12))),
})

/** Only looks at ids; whoever signed has to be admitted after that. */
const searcher: KeyHolder = { id: 'e2b', name: null, scope: 'read', labels: {} }

/**
 * The sandbox of a URL that names none: the one whose access token signed it. There are as many to try as
 * sandboxes of this wire, times the keys that may have asked for the URL.
 */
export function findSigned(host: E2bHost, { secret }: E2bOptions): FindSandbox {
  return async (request, reply) => {
    const url = signedUrl(request)
    requireFresh(url, Date.now())
    const all = await host.onBehalfOf(searcher).list()
    const made = all.filter(({ lastInfo }) => lastInfo.labels[ownLabels.key] !== undefined)
    for (const principal of host.principalIds()) {
      const signer = made.find(({ id }) => isSignedWith(url, accessToken(secret, principal, id)))
      if (signer === undefined) continue
      const visit = host.enterAs(request, reply, principal)
      return requireAwake(await ownSandbox(visit, signer.id))
    }
    throw unauthenticated('the signature of the URL belongs to no sandbox')
  }
}

function signedUrl({ method, query: given }: FastifyRequest): SignedUrl {
  const asked = parsed(query, given)
  const { path = '', username = '', signature, signature_expiration: expiration } = asked
  if (signature === undefined) throw unauthenticated('this URL has no signature')
  const operation = method === 'GET' ? 'read' : 'write'
  return { path, operation, user: username, signature, expiration }
}
