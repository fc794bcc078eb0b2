import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { createConnection } from 'node:net'

/** Errors that mean that nobody listens. */
const absent: ReadonlySet<unknown> = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'ENOTSOCK'])

/** Whether a daemon listens on a Unix socket. One that this user may not use counts. */
export function isServed(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = createConnection({ path })
  socket.once('connect', () => resolve(true))
  socket.once('error', (error: NodeJS.ErrnoException) => resolve(!absent.has(error.code)))
  return promise.finally(() => socket.destroy())
}

/** Whether the daemon on a Unix socket can serve requests now. */
export async function isReady(path: string): Promise<boolean> {
  return (await statusOf(path, 'GET', '/readyz').catch(() => 0)) === 200
}

/** Asks the daemon on a Unix socket to end. Resolves when it has begun to. */
export async function askToStop(path: string): Promise<void> {
  await statusOf(path, 'POST', '/v1/stop')
}

async function statusOf(socketPath: string, method: string, path: string): Promise<number> {
  const asked = request({ socketPath, method, path, agent: false })
  asked.end()
  const [response]: IncomingMessage[] = await once(asked, 'response')
  response?.resume()
  return response?.statusCode ?? 0
}
