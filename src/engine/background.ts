/** Work that a caller need not wait for; closing the engine does. */
export interface Background {
  start(work: Promise<void>): void
  /** Begins in a moment: who goes on at once does not have to share the CPUs. */
  startSoon(work: () => Promise<void>): void
  all(): Promise<void>
}

const restMs = 100

/** What fails here is found and done again by the next process, as after a kill. */
export function background(): Background {
  const pending = new Set<Promise<void>>()
  const soon = new Map<NodeJS.Timeout, () => Promise<void>>()
  const start = (work: Promise<void>): void => {
    const settled = work.catch(() => {}).finally(() => pending.delete(settled))
    pending.add(settled)
  }
  const begin = (timer: NodeJS.Timeout, work: () => Promise<void>): void => {
    clearTimeout(timer)
    soon.delete(timer)
    start(work())
  }
  return {
    start,
    startSoon: (work) => {
      const timer = setTimeout(() => begin(timer, work), restMs)
      soon.set(timer, work)
    },
    all: async () => {
      for (const [timer, work] of soon) begin(timer, work)
      await Promise.all(pending)
    },
  }
}
