import { secondMs } from '../../model/values/patience.ts'

/** Silence after which the agent gets a ping. */
const PING_AFTER_SECONDS = 10
/** Silence after which the host gives up on the agent; a multiple of the time between pings. */
const GIVE_UP_AFTER_SECONDS = 60

export interface Watched {
  /** Called once a second; calls `isSuspended` only before it gives up on something. */
  tick(isSuspended: () => Promise<boolean>): void
  ping(): void
  giveUp(seconds: number): void
}

export interface WatchdogOptions {
  /** Whether the agent cannot answer now because its environment is paused. */
  readonly isSuspended?: (() => Promise<boolean>) | undefined
  /** The length of a second; tests use shorter ones. */
  readonly secondMs?: number | undefined
}

/**
 * Gives up on an agent that stays silent. It counts its own ticks instead of reading a clock: a host that
 * was stopped for an hour must not blame the agent for that hour.
 */
export class Watchdog {
  readonly #watched: Watched
  readonly #secondMs: number
  readonly #isSuspended: () => Promise<boolean>
  /** true while `isSuspended` has not answered yet */
  #isAsking = false
  #silentSeconds = 0
  #timer: NodeJS.Timeout | null = null

  constructor(watched: Watched, options: WatchdogOptions) {
    this.#watched = watched
    this.#secondMs = options.secondMs ?? secondMs()
    this.#isSuspended = options.isSuspended ?? (async () => false)
  }

  /** Starts counting, because somebody waits for the agent. */
  start(): void {
    if (this.#timer !== null) return
    this.#silentSeconds = 0
    // The socket keeps the process alive while necessary.
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
    if (this.#silentSeconds % PING_AFTER_SECONDS === 0) void this.#judgeSilence()
    this.#watched.tick(this.#isSuspended)
  }

  /** Time while the environment is paused does not count. */
  async #judgeSilence(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    const isSuspended = await this.#isSuspended()
    this.#isAsking = false
    // In the meantime, the watchdog was stopped or a frame arrived.
    if (this.#timer === null || this.#silentSeconds === 0) return
    if (isSuspended) this.#silentSeconds = 0
    else if (this.#silentSeconds < GIVE_UP_AFTER_SECONDS) this.#watched.ping()
    else this.#watched.giveUp(this.#silentSeconds)
  }
}
