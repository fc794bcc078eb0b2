import type { Input, OperationName } from '../../api/contract/contract.ts'
import { filledPath, requestPath, routes } from '../../api/contract/routes.ts'
import type { CallOptions } from '../../model/call-options.ts'
import { requestFor, type Sent } from './sent.ts'

/** One daemon, however it is reached. */
export interface Link {
  /** its address, for messages */
  readonly where: string
  /** Resolves to the document of the answer, or null if it has none; rejects with the daemon's error. */
  json(sent: Sent): Promise<unknown>
  newKey(): string
}

/** Sends an operation to a daemon. Resolves to its answer as it came; its schema is still to read it. */
export async function sendOperation<N extends OperationName>(
  link: Link,
  name: N,
  input: Input<N>,
  { signal, idempotencyKey }: CallOptions = {},
): Promise<unknown> {
  const route = routes[name]
  const sent = requestFor(route, input)
  if (route.method === 'GET') return await link.json({ ...sent, signal })
  return await sendOnce(link, sent, idempotencyKey ?? link.newKey(), signal)
}

/** The daemon carries it out once, however often it is sent; an abort waits until it is undone. */
async function sendOnce(
  link: Link,
  sent: Sent,
  key: string,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  signal?.throwIfAborted()
  const path = filledPath(requestPath, () => key)
  // If this fails, the daemon is gone, and the request itself says so.
  const cancel = () => void link.json({ method: 'DELETE', path }).catch(() => {})
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    return await link.json({ ...sent, headers: { 'idempotency-key': key } })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
}
