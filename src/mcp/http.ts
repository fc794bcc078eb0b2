import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js'
import type { ForkpointHandle } from '../api/handles/forkpoint.ts'
import { InvalidInputError, NotFoundError, ResourceError } from '../model/errors.ts'
import { optionsOfQuery } from './options.ts'
import { type McpSession, mcpSession } from './server.ts'

/** One request, by somebody who may make it. */
export interface McpRequest {
  /** whoever else asks does not reach the session */
  readonly owner: string
  readonly forkpoint: ForkpointHandle
  readonly query: URLSearchParams
  readonly body: unknown
  readonly raw: IncomingMessage
}

export interface McpSessions extends AsyncDisposable {
  /** Throws before anything is answered if there is no such session. */
  find(request: McpRequest): Promise<OpenSession>
}

export interface OpenSession {
  answer(request: McpRequest, response: ServerResponse): Promise<void>
}

interface Session extends OpenSession {
  readonly owner: string
  readonly made: McpSession
  lastUsed: number
  /** requests and streams that are open */
  open: number
}

/** Of one owner; a client that never says goodbye leaves sessions behind. */
const mostOfOne = 32
const idleMs = 30 * 60_000
const lookEveryMs = 60_000

/** Sessions of the protocol over HTTP: each belongs to whoever began it. */
export function mcpSessions(): McpSessions {
  const all = new Map<string, Session>()
  const close = async (id: string) => {
    const session = all.get(id)
    all.delete(id)
    await session?.made[Symbol.asyncDispose]()
  }
  const timer = setInterval(() => {
    for (const [id, { open, lastUsed }] of all) {
      if (open === 0 && performance.now() - lastUsed > idleMs) void close(id)
    }
  }, lookEveryMs).unref()
  return {
    find: async (request) => {
      const id = request.raw.headers['mcp-session-id']
      if (id === undefined) return await begin(all, request, close)
      const found = typeof id === 'string' ? all.get(id) : undefined
      // Somebody else's session does not exist.
      if (found !== undefined && found.owner === request.owner) return found
      throw new NotFoundError('no such session', { remedy: 'initialize another one' })
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      await Promise.all([...all.keys()].map(close))
    },
  }
}

async function begin(
  all: Map<string, Session>,
  { owner, forkpoint, query, body }: McpRequest,
  close: (id: string) => Promise<void>,
): Promise<OpenSession> {
  if (!isInitializeRequest(body)) {
    throw new InvalidInputError('this request belongs to no session', {
      remedy: 'send `initialize` first, and then its Mcp-Session-Id',
    })
  }
  await makeRoom(all, owner, close)
  const made = mcpSession(forkpoint, optionsOfQuery(query))
  const id = randomUUID()
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    onsessionclosed: () => close(id),
  })
  // Its optional members are declared as possibly undefined, which the interface does not allow.
  await made.server.connect(transport as Parameters<typeof made.server.connect>[0])
  const session: Session = { owner, made, lastUsed: performance.now(), open: 0, answer }
  all.set(id, session)
  return session

  async function answer(request: McpRequest, response: ServerResponse): Promise<void> {
    session.open += 1
    response.once('close', () => {
      session.open -= 1
      session.lastUsed = performance.now()
    })
    await transport.handleRequest(request.raw, response, request.body)
  }
}

async function makeRoom(
  all: Map<string, Session>,
  owner: string,
  close: (id: string) => Promise<void>,
): Promise<void> {
  const own = [...all].filter(([, session]) => session.owner === owner)
  if (own.length < mostOfOne) return
  const [oldest] = own
    .filter(([, { open }]) => open === 0)
    .sort(([, a], [, b]) => a.lastUsed - b.lastUsed)
  if (oldest === undefined) {
    throw new ResourceError(`${own.length} sessions are open`, { remedy: 'end some of them' })
  }
  await close(oldest[0])
}
