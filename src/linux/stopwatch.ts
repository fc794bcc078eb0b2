/** A type and not an interface, so that it counts as JSON. */
export type Phase = {
  readonly name: string
  readonly ms: number
}

/** How long each step of an operation took, in the order they ended. */
export interface Stopwatch {
  readonly phases: readonly Phase[]
  measure<T>(name: string, work: () => Promise<T>): Promise<T>
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
  }
}

/** Milliseconds since a time of `performance.now()`, to the hundredth. */
export function msSince(began: number): number {
  return roundMs(performance.now() - began)
}

export function roundMs(ms: number): number {
  return Math.round(ms * 100) / 100
}
