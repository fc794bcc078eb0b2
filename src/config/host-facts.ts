import { totalmem } from 'node:os'
import type { HostFacts } from './load-settings.ts'

/** What defaults depend on, measured on this machine. */
export function hostFacts(): HostFacts {
  // Inside a container or a systemd slice less may be allowed than the machine has. Without a
  // constraint Node reports 0 or a number far beyond the memory there is.
  const constrained = process.constrainedMemory()
  const total = totalmem()
  return { memoryBytes: constrained > 0 ? Math.min(constrained, total) : total }
}
