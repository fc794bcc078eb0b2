import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionLostError } from '../index.ts'
import { BackendError, TimeoutError } from '../model/errors.ts'

/** A snapshot replaces the agent in well under a second; a busy machine gets more. */
const patienceMs = 30_000
const pauseMs = 100

/**
 * Whether only the connection to the agent broke, as it does when a snapshot is taken: what runs
 * inside goes on, and can be attached to again.
 */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof ConnectionLostError
}

/** Tries until the agent answers again. */
export async function reconnect<T>(attach: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    signal.throwIfAborted()
    try {
      return await attach()
    } catch (error) {
      // An environment that is paused, dead or removed says so at once, and that is the end.
      const mayPass = error instanceof BackendError || error instanceof TimeoutError
      if (!mayPass || performance.now() > deadline) throw error
    }
    await sleep(pauseMs)
  }
}
