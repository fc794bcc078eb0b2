import type { ForkpointError } from '../model/errors.ts'

/** What went wrong beside what was asked for, and keeps nobody from working. */
export interface Warnings {
  /** Told once, however often it is met under this key. */
  add(key: string, warning: ForkpointError): void
  list(): readonly ForkpointError[]
}

export function warnings(): Warnings {
  const all = new Map<string, ForkpointError>()
  return {
    add: (key, warning) => {
      if (!all.has(key)) all.set(key, warning)
    },
    list: () => [...all.values()],
  }
}
