import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../store/open-store.ts'

/** Whether this process is running an operation that somebody waits for. */
export function isBusy({ leases }: Pick<Store, 'leases'>): boolean {
  return leases.held().some((resource) => resource.startsWith('env:') || resource === 'snapshots')
}

/** An operation that takes longer is stuck; the next process recovers it. */
const longestMs = 30_000

/**
 * Waits for the operations of this process. If the store closed first, they could neither finish nor be
 * undone, and would hold their environments for as long as the process lives.
 */
export async function idle(store: Pick<Store, 'leases'>): Promise<void> {
  const deadline = performance.now() + longestMs
  while (isBusy(store) && performance.now() < deadline) await sleep(5)
}
