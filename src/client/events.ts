import { createInterface } from 'node:readline'
import { event, type ForkpointEvent } from '../api/contract/data/store.ts'
import { eventsPath } from '../api/contract/routes.ts'
import type { EventOptions } from '../api/control.ts'
import type { Requester } from './requester.ts'

/**
 * The daemon's events, one JSON document a line. After a lost connection it continues after the last event
 * that arrived.
 */
export async function* followEvents(
  requester: Requester,
  closed: AbortSignal,
  { signal, after }: EventOptions = {},
): AsyncGenerator<ForkpointEvent, void, undefined> {
  const ended = AbortSignal.any([closed, ...(signal ? [signal] : [])])
  let last = after
  while (!ended.aborted) {
    try {
      const headers = { accept: 'application/x-ndjson' }
      const path = last === undefined ? eventsPath : `${eventsPath}?after=${last}`
      const sent = { method: 'GET', path, headers, signal: ended }
      const body = await requester.send(sent, async (answer) => answer)
      for await (const line of createInterface({ input: body })) {
        if (line === '') continue
        const next: ForkpointEvent = event.parse(JSON.parse(line))
        last = next.id
        yield next
      }
    } catch (error) {
      if (ended.aborted) return
      if (!isLoss(error)) throw error
    }
  }
}

/** The connection broke in the middle of the stream. */
function isLoss(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}
