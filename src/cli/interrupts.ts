import { constants } from 'node:os'

const caught = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Caught = (typeof caught)[number]

/** The user or the system ended this command. */
export class Interrupted extends Error {
  readonly exitCode: number

  constructor(signal: Caught) {
    super(`ended by ${signal}`)
    this.exitCode = signalExitCode(signal)
  }
}

/** As shells report it. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/** How long running work may take to end cleanly before the process ends anyway. */
const patienceMs = 20_000

/**
 * Turns the first signal into an abort, so that running work ends cleanly. If that takes too long, or a
 * second signal arrives, the process just ends, and the next command recovers what it left.
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

  /** Resolves when a signal arrives; never rejects. */
  get arrived(): Promise<void> {
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
