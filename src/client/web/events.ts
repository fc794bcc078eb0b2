import { event, type ForkpointEvent } from '../../api/contract/data/store.ts'
import { eventsPath } from '../../api/contract/routes.ts'
import type { EventOptions } from '../../api/control.ts'
import { parsedAnswer } from '../link/answer.ts'
import { withQuery } from '../link/sent.ts'
import type { Fetcher } from './fetcher.ts'
import { jsonLines } from './json-lines.ts'

/** The daemon's events. After a lost connection it continues after the last one that arrived. */
export async function* followEvents(
  fetcher: Fetcher,
  { signal, after }: Pick<EventOptions, 'signal' | 'after'>,
): AsyncGenerator<ForkpointEvent, void, undefined> {
  const ended = AbortSignal.any([fetcher.closed, ...(signal ? [signal] : [])])
  const headers = { accept: 'application/x-ndjson' }
  const from = { where: fetcher.where, name: 'events' }
  let last = after
  while (!ended.aborted) {
    try {
      const path = withQuery(eventsPath, { after: last })
      const sent = { method: 'GET', path, headers, signal }
      const body = await fetcher.send(sent, async (answer) => answer.body)
      for await (const document of jsonLines(body)) {
        const next: ForkpointEvent = parsedAnswer(event, document, from)
        last = next.id
        yield next
      }
    } catch (error) {
      if (!ended.aborted) throw error
    }
  }
}
