import type { FastifyInstance } from 'fastify'
import { eventsPath } from '../../api/contract/routes.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { lineWriter } from './lines.ts'

/** A line that means nothing, so that proxies and clients see that the connection lives. */
const beatEveryMs = 15_000

/** What happens, as server-sent events, or as one JSON document a line. */
export function addEvents(app: FastifyInstance): void {
  app.get(
    eventsPath,
    { config: { operation: 'events', scope: 'read' } },
    async (request, reply) => {
      const { control, signal } = request.session
      const after = afterOf(request.query, request.headers['last-event-id'])
      const events = control.events(after === undefined ? { signal } : { signal, after })
      const lines = lineWriter(request, reply)
      const beat = setInterval(() => lines.beat(), beatEveryMs)
      try {
        for await (const event of events) await lines.write(event, event.id)
      } finally {
        clearInterval(beat)
        lines.end()
      }
    },
  )
}

function afterOf(query: unknown, header: unknown): number | undefined {
  const { after = header } = query as { after?: unknown }
  if (after === undefined) return undefined
  const id = /^\d+$/.test(String(after)) ? Number(after) : Number.NaN
  if (Number.isSafeInteger(id)) return id
  throw new InvalidInputError(`not the id of an event: ${quote(after)}`, {
    remedy: 'give the id of the last event that you saw',
  })
}
