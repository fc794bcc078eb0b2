// Reproducible randomness: everything follows from one seed, which a failing run prints.

/** Numbers from a seed (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** 0 ≤ x < 1 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  /** 0 ≤ x < below */
  int(below: number): number {
    return Math.floor(this.next() * below)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.int(from.length)]
    if (picked === undefined) throw new RangeError('nothing to pick from')
    return picked
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.int(256)))
  }
}

/** How long all frame fuzzers take together; longer with `npm run test:soak`. */
const totalSeconds = Number(process.env.FORKPOINT_FUZZ_SECONDS ?? 15)

/** The run's seed: a given one to repeat a run, otherwise a new one. */
export const fuzzSeed = Number(
  process.env.FORKPOINT_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31),
)
/** Where to begin, to repeat one round only. */
export const fuzzFirstRound = Number(process.env.FORKPOINT_FUZZ_ROUND ?? 0)

export function fuzzMs(share: number): number {
  return totalSeconds * 1000 * share
}

/** The seed of one round. */
export function randomOf(round: number): Random {
  return new Random(Math.imul(fuzzSeed, 2_654_435_761) ^ Math.imul(round + 1, 40_503))
}

/** The command that repeats a failure. */
export function howToRepeat(round: number): string {
  return `FORKPOINT_FUZZ_SEED=${fuzzSeed} FORKPOINT_FUZZ_ROUND=${round}`
}
