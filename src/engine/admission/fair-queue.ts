import { refused } from '../../model/admission.ts'

/** Lets a number of operations in at once. Those who wait take turns, however many each has waiting. */
export interface FairQueue {
  /** Resolves when it may begin. Disposing of the result lets the next one in. */
  enter(principal: string, signal?: AbortSignal): Promise<Disposable>
  /** how many wait */
  readonly waiting: number
}

/** More than a client should have waiting; its next one is told to come back. */
const mostWaiting = 64
const retryAfterMs = 1000

interface Waiter {
  begin(): void
}

export function fairQueue(atOnce: number): FairQueue {
  /** by principal, in the order of their turns */
  const lines = new Map<string, Waiter[]>()
  let inside = 0

  const leave = (): void => {
    inside -= 1
    const [first] = lines
    if (first === undefined) return
    const [principal, line] = first
    // Whoever had a turn goes to the end.
    lines.delete(principal)
    const next = line.shift()
    if (line.length > 0) lines.set(principal, line)
    next?.begin()
  }
  const place = (): Disposable => {
    inside += 1
    let isOver = false
    return {
      [Symbol.dispose]: () => {
        if (!isOver) leave()
        isOver = true
      },
    }
  }
  const forget = (principal: string, waiter: Waiter): void => {
    const rest = (lines.get(principal) ?? []).filter((other) => other !== waiter)
    if (rest.length > 0) lines.set(principal, rest)
    else lines.delete(principal)
  }
  const wait = (principal: string, signal: AbortSignal | undefined): Promise<Disposable> => {
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>()
    const abort = () => {
      forget(principal, waiter)
      reject(signal?.reason)
    }
    const waiter: Waiter = {
      begin: () => {
        signal?.removeEventListener('abort', abort)
        resolve(place())
      },
    }
    signal?.addEventListener('abort', abort, { once: true })
    lines.set(principal, [...(lines.get(principal) ?? []), waiter])
    return promise
  }
  return {
    enter: async (principal, signal) => {
      signal?.throwIfAborted()
      if (inside < atOnce) return place()
      const ahead = lines.get(principal)?.length ?? 0
      if (ahead < mostWaiting) return await wait(principal, signal)
      throw refused(`${ahead} operations of ${principal} wait already`, {
        scarce: 'branchOperations',
        remedy: 'wait for some of them, or raise admission.branchOperations',
        retryAfterMs,
        detail: { waiting: ahead, limit: atOnce },
      })
    },
    get waiting() {
      return [...lines.values()].reduce((sum, line) => sum + line.length, 0)
    },
  }
}
