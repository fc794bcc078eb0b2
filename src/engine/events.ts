import { EventEmitter, once } from 'node:events'
import type { ForkpointEvent } from '../api/contract/data/store.ts'
import type { EventOptions } from '../api/control.ts'
import type { Log } from '../model/log.ts'
import type { EventLog } from '../store/event-log.ts'
import type { Journal, Operation } from '../store/journal.ts'

type WithoutId<E> = E extends ForkpointEvent ? Omit<E, 'id'> : never

export interface Events {
  emit(event: WithoutId<ForkpointEvent>): void
  /** What happens from now on, or after an event, until the signal aborts or the engine closes. */
  listen(options?: EventOptions): AsyncIterableIterator<ForkpointEvent>
  close(): void
}

/** Events of other processes are only in the store, so a listener looks there now and then. */
const lookEveryMs = 1000
const mostAtOnce = 100

export function events(log: EventLog): Events {
  const emitter = new EventEmitter().setMaxListeners(0)
  const closed = new AbortController()
  return {
    emit: (event) => {
      // Work in the background may end after the store was closed; nobody listens then.
      if (closed.signal.aborted) return
      log.append(event)
      emitter.emit('event')
    },
    listen: ({ signal, after } = {}) => {
      const ended = AbortSignal.any([closed.signal, ...(signal ? [signal] : [])])
      // Read now: whoever asked misses nothing that happens before the first `next`.
      const from = after ?? (ended.aborted ? 0 : log.last())
      return follow(log, emitter, from, ended)
    },
    close: () => closed.abort(),
  }
}

async function* follow(
  log: EventLog,
  emitter: EventEmitter,
  from: number,
  ended: AbortSignal,
): AsyncGenerator<ForkpointEvent, void, undefined> {
  let last = from
  while (!ended.aborted) {
    const found = log.after(last, mostAtOnce)
    for (const { id, doc } of found) {
      last = id
      yield { ...(doc as ForkpointEvent), id }
      if (ended.aborted) return
    }
    if (found.length === 0) await changeOrTime(emitter, ended)
  }
}

async function changeOrTime(emitter: EventEmitter, ended: AbortSignal): Promise<void> {
  const timer = setTimeout(() => emitter.emit('event'), lookEveryMs).unref()
  try {
    await once(emitter, 'event', { signal: ended })
  } catch (error) {
    // The listener's own end; the loop ends with it.
    if (!ended.aborted) throw error
  } finally {
    clearTimeout(timer)
  }
}

/** A journal that announces and logs the end of each operation, after its transaction has committed. */
export function announcing(journal: Journal, { emit }: Events, log: Log): Journal {
  const announced = (operation: Operation, state: 'done' | 'failed', err?: unknown): Operation => {
    const { kind, environmentId: environment, startedAt, endedAt, payload } = operation
    const cause = payload.cause && { cause: payload.cause }
    const ms = (endedAt ?? Date.now()) - startedAt
    setImmediate(() => {
      emit({ type: 'operation', kind, environment, state, at: Date.now(), ...cause })
      log.debug({ kind, environment, ms, ...cause, err }, `${kind} ${state}`)
    })
    return operation
  }
  return {
    ...journal,
    finish: (operation, patch) => announced(journal.finish(operation, patch), 'done'),
    fail: (operation, error) => announced(journal.fail(operation, error), 'failed', error),
  }
}
