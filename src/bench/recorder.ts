import type { Series } from './results.ts'

type Subject = Omit<Series, 'samples' | 'unit'>

/** Collects samples by subject, in the order in which each was first measured. */
export class Recorder {
  readonly #series = new Map<string, Series & { samples: number[] }>()

  get series(): readonly Series[] {
    return [...this.#series.values()]
  }

  add(subject: Subject, unit: Series['unit'], value: number): void {
    const key = JSON.stringify([subject.by, subject.what, subject.on, subject.at])
    const known = this.#series.get(key) ?? { ...subject, unit, samples: [] }
    known.samples.push(rounded(value))
    this.#series.set(key, known)
  }

  /** Runs `work` and notes how long it took. */
  async time<T>(subject: Subject, work: () => Promise<T>): Promise<T> {
    const { ms, result } = await timed(work)
    this.add(subject, 'ms', ms)
    return result
  }
}

export async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const began = performance.now()
  const result = await work()
  return { ms: performance.now() - began, result }
}

/** To a microsecond: on a busy machine, no clock is more precise. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
