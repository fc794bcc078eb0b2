/** A type, not an interface, so that it is assignable to JSON types. */
export type Phase = {
  readonly name: string
  readonly ms: number
}

/** How long each step of an operation took, in the order in which they ended. */
export interface Stopwatch {
  readonly phases: readonly Phase[]
  measure<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Adds steps that another stopwatch has measured. */
  add(phases: readonly Phase[]): void
}

export function stopwatch(): Stopwatch {
  const phases: Phase[] = []
  return {
    phases,
    measure: async (name, work) => {
      const began = performance.now()
      try {
        return await work()
      } finally {
        phases.push({ name, ms: msSince(began) })
      }
    },
    add: (others) => {
      phases.push(...others)
    },
  }
}

/** Milliseconds since a time of `performance.now()`, to the hundredth. */
export function msSince(began: number): number {
  return roundMs(performance.now() - began)
}

export function roundMs(ms: number): number {
  return Math.round(ms * 100) / 100
}
