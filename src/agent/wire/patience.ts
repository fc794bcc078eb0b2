/**
 * How long the host waits for the agent within one operation, in seconds. The agent may be hostile, so
 * every wait has a limit. In addition, the agent must answer pings.
 */
export type Patience =
  /** From the opening to the result, whatever arrives in between. */
  | { readonly until: 'answered'; readonly seconds: number }
  /** From the opening to the first event. Silence afterwards is fine: a command may print nothing. */
  | { readonly until: 'begun'; readonly seconds: number }
  /** Between two frames while the host waits for one: a slow transfer that makes progress is never cut. */
  | { readonly until: 'progress'; readonly seconds: number }
  /** As long as the agent answers pings. */
  | { readonly until: 'ended' }

/** Far more than any request takes, even on a busy machine. */
export const promptly: Patience = { until: 'answered', seconds: 30 }
export const begunPromptly: Patience = { until: 'begun', seconds: 30 }
/** A disk may stall for longer than a program does. */
export const progressing: Patience = { until: 'progress', seconds: 60 }
export const unlimited: Patience = { until: 'ended' }

/** Counts the seconds of one operation. */
export class PatienceClock {
  readonly #patience: Patience
  #waitedSeconds = 0
  #isOver: boolean

  constructor(patience: Patience) {
    this.#patience = patience
    this.#isOver = patience.until === 'ended'
  }

  /** The seconds waited, if that is too long; null otherwise. */
  tick(host: 'waits' | 'works'): number | null {
    if (this.#isOver || this.#patience.until === 'ended') return null
    if (this.#patience.until === 'progress' && host === 'works') this.#waitedSeconds = 0
    else this.#waitedSeconds += 1
    return this.overdueSeconds
  }

  /** The same, without counting another second. */
  get overdueSeconds(): number | null {
    if (this.#isOver || this.#patience.until === 'ended') return null
    return this.#waitedSeconds >= this.#patience.seconds ? this.#waitedSeconds : null
  }

  /** A frame arrived. */
  noteFrame(kind: 'event' | 'other'): void {
    if (this.#patience.until === 'progress') this.#waitedSeconds = 0
    if (this.#patience.until === 'begun' && kind === 'event') this.#isOver = true
  }

  /** Starts over, because the environment is paused and its agent cannot answer. */
  restart(): void {
    this.#waitedSeconds = 0
  }
}
