/** Work that a caller need not wait for; closing the engine does. */
export interface Background {
  start(work: Promise<void>): void
  all(): Promise<void>
}

/** What fails here is found and done again by the next process, as after a kill. */
export function background(): Background {
  const pending = new Set<Promise<void>>()
  return {
    start: (work) => {
      const settled = work.catch(() => {}).finally(() => pending.delete(settled))
      pending.add(settled)
    },
    all: async () => {
      await Promise.all(pending)
    },
  }
}
