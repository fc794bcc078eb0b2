import { constants } from 'node:os'

const caught = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Caught = (typeof caught)[number]

/** The user, or the system, wanted this command to end. */
export class Interrupted extends Error {
  readonly exitCode: number

  constructor(signal: Caught) {
    super(`ended by ${signal}`)
    this.exitCode = signalExitCode(signal)
  }
}

/** As shells have it. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/** For what runs to be ended in order; then the process ends without it. */
const patienceMs = 20_000

/**
 * Turns the first signal into an abort, so that what runs can be ended in order. What is not ended by
 * then is cut off, as a second signal does at once: the next command puts right what that leaves.
 */
export class Interrupts implements Disposable {
  readonly #controller = new AbortController()
  readonly #handlers = caught.map((signal) => ({ signal, handle: () => this.#interrupt(signal) }))

  constructor() {
    for (const { signal, handle } of this.#handlers) process.on(signal, handle)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Resolves, never rejects, when a signal came. */
  get came(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (this.signal.aborted) resolve()
    this.signal.addEventListener('abort', () => resolve(), { once: true })
    return promise
  }

  [Symbol.dispose](): void {
    for (const { signal, handle } of this.#handlers) process.off(signal, handle)
  }

  #interrupt(signal: Caught): void {
    this[Symbol.dispose]()
    this.#controller.abort(new Interrupted(signal))
    setTimeout(() => process.exit(signalExitCode(signal)), patienceMs).unref()
  }
}
