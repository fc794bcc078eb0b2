import type { Log } from '../../model/log.ts'

/** Work that callers do not wait for. Closing the engine waits for it. */
export interface Background {
  start(work: Promise<void>): void
  /** Begins when no operation is running, so that it does not compete with the caller's next one. */
  startWhenQuiet(work: () => Promise<void>): void
  all(): Promise<void>
}

/** Short: whoever rests this long has read the answer, and the next operation often begins 100 ms later. */
const restMs = 15
/** Then it starts anyway: work must not pile up behind a caller that never rests. */
const mostRests = 60

interface Waiting {
  readonly work: () => Promise<void>
  timer: NodeJS.Timeout
  rests: number
}

/** If work fails here, the next process finds it and does it again, as after a kill. */
export function background(isBusy: () => boolean, log: Log): Background {
  const pending = new Set<Promise<void>>()
  const waiting = new Set<Waiting>()
  const start = (work: Promise<void>): void => {
    const settled = work
      .catch((err) => log.warn({ err }, 'background work failed'))
      .finally(() => pending.delete(settled))
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
