import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** A body that grows: server-sent events if the client asks for them, otherwise JSON lines. */
export interface LineWriter {
  /** Resolves when the client has taken it. */
  write(document: unknown, id?: number): Promise<void>
  beat(): void
  end(): void
}

declare module 'fastify' {
  interface FastifyInstance {
    /** answers that have no end of their own */
    growing: Set<ServerResponse>
  }
}

/** When the server closes, cuts the answers that have no end, and the connections of the others after them. */
export function cutWhenClosing(app: FastifyInstance): void {
  app.decorate('growing', new Set<ServerResponse>())
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
    for (const raw of app.growing) raw.destroy()
  })
  // Otherwise the connection of an answer that is still under way would be waited for.
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close')
  })
}

/** What a client wants an answer to look like. */
export function wantedForm({ headers }: FastifyRequest): 'json' | 'ndjson' | 'sse' {
  const accept = headers.accept ?? ''
  if (accept.includes('text/event-stream')) return 'sse'
  return accept.includes('application/x-ndjson') ? 'ndjson' : 'json'
}

export function lineWriter(request: FastifyRequest, reply: FastifyReply): LineWriter {
  const isLines = wantedForm(request) === 'ndjson'
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, {
    'content-type': isLines ? 'application/x-ndjson' : 'text/event-stream',
    'cache-control': 'no-store',
    'x-request-id': request.id,
  })
  // It would keep a daemon that is ending from doing so.
  const { growing } = request.server
  growing.add(raw)
  raw.once('close', () => growing.delete(raw))
  // The client learns that it is connected before the first line.
  raw.flushHeaders()
  const put = async (text: string) => {
    if (raw.destroyed || raw.write(text)) return
    await Promise.race([once(raw, 'drain'), once(raw, 'close')])
  }
  return {
    write: (document, id) => {
      const json = JSON.stringify(document)
      if (isLines) return put(`${json}\n`)
      return put(`${id === undefined ? '' : `id: ${id}\n`}data: ${json}\n\n`)
    },
    beat: () => void put(isLines ? '\n' : ':\n\n'),
    end: () => void raw.end(),
  }
}
