import { type CopyReasons, copiedIn } from '../images/memory/copied.ts'
import type { SharedMemory } from '../images/memory/share.ts'
import { type DumpedProcess, inheritedBytes } from './dumped-processes.ts'
import { leastBytes } from './plan-sharing.ts'
import type { ImagedProcess } from './summary.ts'
import type { Verdict } from './verdicts.ts'

interface Decided extends Omit<CopyReasons, 'rest'> {
  readonly verdict: Verdict
}

/** A process as the images will have it; `shared` is null if nothing of this dump is shared. */
export function afterSharing(
  dumped: DumpedProcess,
  shared: SharedMemory | null,
  { verdict, ...reasons }: Decided,
): ImagedProcess {
  const { pid, pagesBytes } = dumped
  const ownBytes = shared?.leftovers.reduce((sum, { length }) => sum + length, 0) ?? pagesBytes
  const copiedBytes = inheritedBytes(dumped) + ownBytes
  const memory = shared ?? dumped
  // Thousands of small processes would make the record large, and say nothing.
  if (copiedBytes < leastBytes) return { pid, memory, copiedBytes }
  const whyNot = shared ? null : 'too little to share'
  const rest = verdict.allowed ? whyNot : verdict.why
  return { pid, memory, copiedBytes, copied: copiedIn(memory, { ...reasons, rest }) }
}
