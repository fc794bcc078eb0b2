import { protocolError } from '../failures.ts'
import { INITIAL_WINDOW_BYTES } from './wire.ts'

/** Credit is returned once this much has accumulated, to save frames. */
const CREDIT_BATCH_BYTES = INITIAL_WINDOW_BYTES / 4
/** More credit than our agent ever grants. */
const MAX_CREDIT_BYTES = 64 * 1024 * 1024

interface Waiter {
  readonly bytes: number
  readonly resolve: () => void
}

/** How much may still be sent on a channel. One writer at a time waits for it. */
export class SendWindow {
  #credit = INITIAL_WINDOW_BYTES
  #waiter: Waiter | null = null
  #failure: Error | null = null

  /** Whether somebody waits for credit. */
  get isAwaited(): boolean {
    return this.#waiter !== null
  }

  /** Waits for at least `min` bytes of credit and takes as much as is available, up to `max`. */
  async take(min: number, max: number): Promise<number> {
    while (this.#failure === null && this.#credit < min) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiter = { bytes: min, resolve }
      await promise
    }
    if (this.#failure !== null) throw this.#failure
    const taken = Math.min(this.#credit, max)
    this.#credit -= taken
    return taken
  }

  grant(bytes: number): void {
    this.#credit += bytes
    if (this.#credit > MAX_CREDIT_BYTES) throw protocolError(`${this.#credit} bytes of credit`)
    if (this.#waiter !== null && this.#credit >= this.#waiter.bytes) this.#wake()
  }

  /** Nothing more can be sent: the waiting writer, and every later one, fails. */
  fail(error: Error): void {
    this.#failure ??= error
    this.#wake()
  }

  #wake(): void {
    const waiter = this.#waiter
    this.#waiter = null
    waiter?.resolve()
  }
}

/** How much the agent may still send on a channel, and the credit that is owed to it. */
export class ReceiveWindow {
  #allowed = INITIAL_WINDOW_BYTES
  #owed = 0

  received(bytes: number): void {
    if (bytes > this.#allowed) throw protocolError('data beyond the window')
    this.#allowed -= bytes
  }

  /** Notes that the consumer took `bytes`; returns the credit to send now, usually 0. */
  consumed(bytes: number): number {
    this.#owed += bytes
    if (this.#owed < CREDIT_BATCH_BYTES) return 0
    const credit = this.#owed
    this.#owed = 0
    this.#allowed += credit
    return credit
  }
}
