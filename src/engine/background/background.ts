/** Work that a caller need not wait for; closing the engine does. */
export interface Background {
  start(work: Promise<void>): void
  /** Begins when no operation is under way: who goes on at once does not have to share the CPUs. */
  startWhenQuiet(work: () => Promise<void>): void
  all(): Promise<void>
}

const restMs = 100
/** Callers that never rest must not pile it up. */
const mostRests = 10

interface Waiting {
  readonly work: () => Promise<void>
  timer: NodeJS.Timeout
  rests: number
}

/** What fails here is found and done again by the next process, as after a kill. */
export function background(isBusy: () => boolean): Background {
  const pending = new Set<Promise<void>>()
  const waiting = new Set<Waiting>()
  const start = (work: Promise<void>): void => {
    const settled = work.catch(() => {}).finally(() => pending.delete(settled))
    pending.add(settled)
  }
  const begin = (one: Waiting): void => {
    clearTimeout(one.timer)
    waiting.delete(one)
    start(one.work())
  }
  const look = (one: Waiting): void => {
    one.rests += 1
    if (one.rests >= mostRests || !isBusy()) begin(one)
    else one.timer = setTimeout(look, restMs, one)
  }
  return {
    start,
    startWhenQuiet: (work) => {
      const one: Waiting = { work, rests: 0, timer: setTimeout(() => look(one), restMs) }
      waiting.add(one)
    },
    all: async () => {
      for (const one of waiting) begin(one)
      await Promise.all(pending)
    },
  }
}
