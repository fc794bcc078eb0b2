import { EventEmitter, on } from 'node:events'
import type { EnvironmentId, SnapshotId } from '../model/ids.ts'
import type { Journal, Operation } from '../store/journal.ts'

/** Something that this process has done, in the foreground or after the call returned. */
export type ForkpointEvent =
  | {
      readonly type: 'operation'
      /** `create`, `snapshot`, `restore`, `fork`, … as `forkpoint log` names them */
      readonly kind: string
      readonly environment: EnvironmentId | null
      readonly state: 'done' | 'failed'
      /** milliseconds since 1970 */
      readonly at: number
    }
  /** the snapshot is on disk */
  | { readonly type: 'durable'; readonly snapshot: SnapshotId; readonly at: number }

export interface Events {
  emit(event: ForkpointEvent): void
  /** Those that happen from now on, until the signal or the end of this process's engine. */
  listen(signal?: AbortSignal): AsyncIterableIterator<ForkpointEvent>
  close(): void
}

export function events(): Events {
  const emitter = new EventEmitter().setMaxListeners(0)
  return {
    emit: (event) => void emitter.emit('event', event),
    listen: (signal) => {
      const options = { close: ['close'], ...(signal && { signal }) }
      return unwrapped(on(emitter, 'event', options))
    },
    close: () => void emitter.emit('close'),
  }
}

/** Node's own iterator yields the arguments of the event; being aborted is an end like any other. */
function unwrapped(source: AsyncIterator<unknown[]>): AsyncIterableIterator<ForkpointEvent> {
  const done = { done: true, value: undefined } as const
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: async () => {
      const next = await source.next().catch(ignoreAbort)
      if (next === null || next.done) return done
      return { done: false, value: next.value[0] as ForkpointEvent }
    },
    return: async () => {
      await source.return?.()
      return done
    },
  }
}

function ignoreAbort(error: unknown): null {
  if ((error as Error).name === 'AbortError') return null
  throw error
}

/** A journal that tells the end of each operation, once what belongs to it was committed. */
export function announcing(journal: Journal, { emit }: Events): Journal {
  const announced = (operation: Operation, state: 'done' | 'failed'): Operation => {
    const { kind, environmentId: environment } = operation
    setImmediate(() => emit({ type: 'operation', kind, environment, state, at: Date.now() }))
    return operation
  }
  return {
    ...journal,
    finish: (operation, patch) => announced(journal.finish(operation, patch), 'done'),
    fail: (operation, error) => announced(journal.fail(operation, error), 'failed'),
  }
}
