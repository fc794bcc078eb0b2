/** Runs a limited number of jobs at a time; the first failure stops the rest. */
export class WorkPool {
  readonly #limit: number
  readonly #running = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  /** Aborts when a job fails or the caller gives up. Jobs pass it on to what they call. */
  readonly signal: AbortSignal

  constructor(limit: number, outer: AbortSignal | undefined) {
    this.#limit = limit
    this.signal = outer ? AbortSignal.any([outer, this.#stop.signal]) : this.#stop.signal
  }

  /** Starts `job` when there is room. `done` resolves when it ends, however it ends. */
  async start(job: () => Promise<void>): Promise<{ done: Promise<void> }> {
    while (this.#running.size >= this.#limit) await Promise.race(this.#running)
    this.signal.throwIfAborted()
    const done = job()
      .catch((error) => this.#stop.abort(error))
      .finally(() => this.#running.delete(done))
    this.#running.add(done)
    return { done }
  }

  /** Waits for every job; throws the failure that stopped the pool. */
  async finish(): Promise<void> {
    await Promise.all(this.#running)
    this.signal.throwIfAborted()
  }

  /** Stops the rest because of `error`, and waits for running jobs. */
  async abandon(error: unknown): Promise<void> {
    this.#stop.abort(error)
    await Promise.all(this.#running)
  }
}
