import type { ReadRange } from './elf.ts'

/** What judging the programs of one snapshot may cost, whatever they say about themselves. */
export interface BudgetLimits {
  readonly bytes: number
  readonly ms: number
}

/**
 * Measured: a second of reading and searching is 600 MB. The bytes are enough for the largest file
 * that is searched, twice, so that every survey gets further than the one before; the time is for a
 * machine that has much else to do.
 */
export const surveyLimits: BudgetLimits = { bytes: 768 * 1024 * 1024, ms: 5_000 }

/** The file takes too long: another survey had better not try it at once. */
export class TooSlow extends Error {}

/** Other files have taken all of it. */
export class NothingLeft extends Error {}

const tooSlow = 'took too long to judge'

export class Budget implements Disposable {
  #bytesLeft: number
  readonly #deadline: number
  readonly #expired: Promise<never>
  readonly #timer: NodeJS.Timeout

  constructor({ bytes, ms }: BudgetLimits) {
    this.#bytesLeft = bytes
    this.#deadline = performance.now() + ms
    const { promise, reject } = Promise.withResolvers<never>()
    // Nobody may be waiting when it comes.
    promise.catch(() => {})
    this.#expired = promise
    this.#timer = setTimeout(() => reject(new TooSlow(tooSlow)), ms)
  }

  get isLate(): boolean {
    return performance.now() > this.#deadline
  }

  /** Reads only what is left of it. */
  meter(read: ReadRange): ReadRange {
    return async (range) => {
      if (this.isLate) throw new TooSlow(tooSlow)
      if (range.length > this.#bytesLeft) throw new NothingLeft('too much to read')
      this.#bytesLeft -= range.length
      return await read(range)
    }
  }

  /** Waits no longer than the time it has. What never answers is left behind with what it holds. */
  async wait<T>(work: Promise<T>): Promise<T> {
    work.catch(() => {})
    return await Promise.race([work, this.#expired])
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}
