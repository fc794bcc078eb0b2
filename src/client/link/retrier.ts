import { ForkpointError, type Happened } from '../../model/errors.ts'

/** A daemon that is started again answers after about a second; a busy machine gets more. */
const patienceMs = 30_000
const firstPauseMs = 20
const longestPauseMs = 1000
/** A request on which the daemon dies each time is not sent forever. */
const mostCuts = 50

/** Runs `work` again as long as the daemon cannot be reached, but not forever. */
export type Retrier = <T>(
  happened: Happened,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
) => Promise<T>

export interface Losses {
  /** Whether the request never left this machine. */
  isUnreached(error: unknown): boolean
  /** Whether the daemon had been reached, and then the connection ended. */
  isCut(error: unknown): boolean
  /** What the caller gets in the end. */
  asError(error: unknown, happened: Happened): ForkpointError
}

/** For one daemon. One that never answered is not waited for: its address is more likely wrong. */
export function retrier({ isUnreached, isCut, asError }: Losses): Retrier {
  let hasAnswered = false
  return async (happened, signal, work) => {
    let deadline = performance.now() + patienceMs
    let cuts = 0
    let sureNot = true
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      signal?.throwIfAborted()
      try {
        const result = await work()
        hasAnswered = true
        return result
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof ForkpointError) {
          hasAnswered = true
          throw error
        }
        if (!isUnreached(error)) sureNot = false
        if (isCut(error)) {
          // The operation may have been long: only the time without a daemon counts.
          deadline = performance.now() + patienceMs
          cuts += 1
        }
        const isLate = performance.now() > deadline || cuts > mostCuts
        if (!hasAnswered || isLate) throw asError(error, sureNot ? 'no' : happened)
      }
      await pause(pauseMs, signal)
    }
  }
}

/** Ends early if the signal aborts; the caller looks. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, ms)
  const abort = () => over.resolve()
  signal?.addEventListener('abort', abort, { once: true })
  try {
    await over.promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
