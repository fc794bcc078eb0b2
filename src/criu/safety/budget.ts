import type { ReadRange } from './elf.ts'

/** How much judging the programs of one snapshot may cost, whatever they claim about themselves. */
export interface BudgetLimits {
  readonly bytes: number
  readonly ms: number
}

/**
 * Measured: we read and search 600 MB per second. The bytes are enough to search the largest allowed file
 * twice, so that every survey gets further than the one before. The time allows for a busy machine.
 */
export const surveyLimits: BudgetLimits = { bytes: 768 * 1024 * 1024, ms: 5_000 }

/** The file takes too long: the next survey should not try it again immediately. */
export class TooSlow extends Error {}

/** Other files have used up the budget. */
export class NothingLeft extends Error {}

const tooSlow = 'took too long to judge'

export class Budget implements Disposable {
  #bytesLeft: number
  readonly #deadline: number
  readonly #expired: Promise<never>
  readonly #timer: NodeJS.Timeout
  #hasExpired = false

  constructor({ bytes, ms }: BudgetLimits) {
    this.#bytesLeft = bytes
    this.#deadline = performance.now() + ms
    const { promise, reject } = Promise.withResolvers<never>()
    // Nothing is lost: nobody may be waiting when it expires, and `wait` reports it otherwise.
    promise.catch(() => {})
    this.#expired = promise
    this.#timer = setTimeout(() => {
      this.#hasExpired = true
      reject(new TooSlow(tooSlow))
    }, ms)
  }

  /** A timer may fire a moment before the clock shows its time. */
  get isLate(): boolean {
    return this.#hasExpired || performance.now() > this.#deadline
  }

  /** Reads only as much as the budget has left. */
  meter(read: ReadRange): ReadRange {
    return async (range) => {
      if (this.isLate) throw new TooSlow(tooSlow)
      if (range.length > this.#bytesLeft) throw new NothingLeft('too much to read')
      this.#bytesLeft -= range.length
      return await read(range)
    }
  }

  /** Waits only as long as the budget has time. Work that never ends is abandoned, with what it holds. */
  async wait<T>(work: Promise<T>): Promise<T> {
    // The race reports a failure, unless time is up; then nobody needs to know about it.
    work.catch(() => {})
    return await Promise.race([work, this.#expired])
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}
