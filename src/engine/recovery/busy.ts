import type { Store } from '../../store/open-store.ts'

/** Whether this process is in the middle of an operation that somebody waits for. */
export function isBusy({ leases }: Pick<Store, 'leases'>): boolean {
  return leases.held().some((resource) => resource.startsWith('env:') || resource === 'snapshots')
}
