import type { FastifyRequest } from 'fastify'
import { ConnectionError } from '../../model/errors.ts'
import type { Service } from '../service.ts'

/** Honours the idempotency key of a POST to something inside. */
export async function once(
  service: Service,
  request: FastifyRequest,
  input: unknown,
  work: () => Promise<unknown>,
): Promise<unknown> {
  const { idempotencyKey: key } = request.session
  if (key === undefined || request.method !== 'POST') return await work()
  const answered = async () => (await work()) ?? null
  return await service.once({ key, name: request.url, input }, answered, unknown)
}

/** What was typed or sent to a program cannot be seen afterwards. */
function unknown(): never {
  throw new ConnectionError('the daemon was killed while it carried this out', {
    happened: 'maybe',
    remedy: 'look inside before you send it again, with another key',
  })
}
