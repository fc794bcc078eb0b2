import { setTimeout as sleep } from 'node:timers/promises'
import { NotStillError } from '../../../criu/not-still.ts'
import { type Phase, type Stopwatch, stopwatch } from '../../../linux/stopwatch.ts'
import type { Cgroups } from '../cell/cgroup.ts'
import { freeze, thaw } from '../cell/freezer.ts'
import { withoutIoLimits } from '../cell/io-limits.ts'

/** How long processes may be kept still while nothing is written. */
const longestHoldMs = 500
const firstGapMs = 2
const longestGapMs = 200

interface Stillness<T> {
  /** before each freeze */
  prepare(): Promise<void>
  /** while nothing runs */
  work(watch: Stopwatch): Promise<T>
  /** lets everything run again */
  letGo(): Promise<unknown>
}

export interface Held<T> {
  readonly result: T
  readonly phases: readonly Phase[]
  /** when the processes stopped, in the time of `performance.now()` */
  readonly frozenAt: number
}

/**
 * Freezes an environment and does `work`, after which it is still frozen. If a process cannot be stopped
 * at this moment, lets all of them run for a while and tries again. After another failure of `work` they
 * stay frozen, because CRIU may have left something in them.
 */
export async function holdStill<T>(
  groups: Cgroups,
  { prepare, work, letGo }: Stillness<T>,
): Promise<Held<T>> {
  const began = performance.now()
  for (let gapMs = firstGapMs; ; gapMs = Math.min(2 * gapMs, longestGapMs)) {
    // Only the phases of the last try are worth reading.
    const watch = stopwatch()
    await prepare()
    const frozenAt = performance.now()
    try {
      await watch.measure('freeze', () =>
        // Whoever waits for a slow disk is let through first.
        withoutIoLimits(groups, () => freeze(groups, longestHoldMs)),
      )
      return { result: await work(watch), phases: watch.phases, frozenAt }
    } catch (error) {
      if (!(error instanceof NotStillError)) throw error
      await letGo()
      if (performance.now() > began + error.patienceMs) throw error
    }
    await sleep(gapMs)
  }
}

/** Only freezes it. */
export function freezePatiently(groups: Cgroups): Promise<Held<void>> {
  return holdStill(groups, { prepare: nothing, work: nothing, letGo: () => thaw(groups) })
}

async function nothing(): Promise<void> {}
