import { totalmem } from 'node:os'
import type { HostFacts } from './schema.ts'

/** Facts about this machine that defaults depend on. */
export function hostFacts(): HostFacts {
  // A container or a systemd slice may allow less memory than the machine has. Without a
  // constraint Node reports 0, or a number far beyond the machine's memory.
  const constrained = process.constrainedMemory()
  const total = totalmem()
  return { memoryBytes: constrained > 0 ? Math.min(constrained, total) : total }
}
