/** Of silence, after which the agent is asked for a sign of life. */
const PING_AFTER_SECONDS = 10
/** Of silence, after which the agent is given up: it is stopped, stuck or hostile. A multiple of the other. */
const GIVE_UP_AFTER_SECONDS = 60

export interface Watched {
  /** Once a second; `suspended` is asked only when something is about to be given up. */
  tick(suspended: () => boolean): void
  ping(): void
  giveUp(seconds: number): void
}

export interface WatchdogOptions {
  /** Whether the agent cannot answer now because its environment is paused. */
  readonly isSuspended?: (() => boolean) | undefined
  /** How long a second is; tests have shorter ones. */
  readonly secondMs?: number | undefined
}

/**
 * Gives up an agent that stays silent. It counts its own ticks instead of reading a clock: a host that
 * was stopped for an hour must not take that hour for the agent's.
 */
export class Watchdog {
  readonly #watched: Watched
  readonly #secondMs: number
  readonly #isSuspended: () => boolean
  #silentSeconds = 0
  #timer: NodeJS.Timeout | null = null

  constructor(watched: Watched, options: WatchdogOptions) {
    this.#watched = watched
    this.#secondMs = options.secondMs ?? 1000
    this.#isSuspended = options.isSuspended ?? (() => false)
  }

  /** Somebody waits for the agent from now on. */
  start(): void {
    if (this.#timer !== null) return
    this.#silentSeconds = 0
    // The socket keeps the process alive while it has to.
    this.#timer = setInterval(() => this.#tick(), this.#secondMs).unref()
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  noteFrame(): void {
    this.#silentSeconds = 0
  }

  #tick(): void {
    this.#silentSeconds += 1
    if (this.#silentSeconds % PING_AFTER_SECONDS === 0) {
      // Time in which it cannot answer does not count: one that is resumed gets its own.
      if (this.#isSuspended()) this.#silentSeconds = 0
      else if (this.#silentSeconds < GIVE_UP_AFTER_SECONDS) this.#watched.ping()
      else {
        this.#watched.giveUp(this.#silentSeconds)
        return
      }
    }
    this.#watched.tick(this.#isSuspended)
  }
}
