import type { ForkpointError } from '../model/errors.ts'

/** Problems that stop nobody from working, and have nothing to do with the caller's request. */
export interface Warnings {
  /** Reported once per key, however often it happens. */
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
