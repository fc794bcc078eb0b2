import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionLostError } from '../../agent/failures.ts'
import { BackendError, ConnectionError, TimeoutError } from '../../model/errors.ts'

/** A snapshot replaces the agent in well under a second; a busy machine gets more. */
const patienceMs = 30_000
const pauseMs = 20

/**
 * Something inside that outlives a connection to it. A snapshot breaks only the connection, so this
 * attaches again, and users of the handle notice nothing.
 */
export class Followed<T> {
  readonly #attach: (before: T) => Promise<T>
  #current: Promise<T>
  #left: Error | null = null

  /** `attach` continues where `before` stopped. */
  constructor(first: T, attach: (before: T) => Promise<T>) {
    this.#attach = attach
    this.#current = Promise.resolve(first)
  }

  /** Runs `work` with what is attached now, and again with its replacement if the connection breaks. */
  async with<R>(work: (attached: T) => Promise<R>): Promise<R> {
    for (;;) {
      try {
        return await this.once(work)
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error
        if (this.#left !== null) throw this.#left
      }
    }
  }

  /** The same, but never runs `work` twice. */
  async once<R>(work: (attached: T) => Promise<R>): Promise<R> {
    for (;;) {
      const pending = this.#current
      const attached = await pending
      if (this.#left !== null) throw this.#left
      // Replaced while this waited: what is still queued there was asked for again from the new one.
      if (pending !== this.#current) continue
      try {
        return await work(attached)
      } catch (error) {
        if (error instanceof ConnectionLostError) this.#lost(pending, attached)
        throw error
      }
    }
  }

  /** Stops following. Whoever still waits fails with `reason`. */
  leave(reason: Error): void {
    this.#left = reason
  }

  /** The first to notice attaches again for everybody. From now on nobody reads the old one. */
  #lost(pending: Promise<T>, attached: T): void {
    if (this.#current !== pending) return
    this.#current = this.#again(attached)
    // The next user of `#current` gets the failure.
    this.#current.catch(() => {})
  }

  async #again(before: T): Promise<T> {
    const deadline = performance.now() + patienceMs
    for (;;) {
      try {
        return await this.#attach(before)
      } catch (error) {
        // Other errors mean that the environment is paused, dead or removed: trying again is useless.
        const mayPass =
          error instanceof BackendError ||
          error instanceof TimeoutError ||
          error instanceof ConnectionError
        if (!mayPass || this.#left !== null || performance.now() > deadline) throw error
      }
      await sleep(pauseMs)
    }
  }
}
