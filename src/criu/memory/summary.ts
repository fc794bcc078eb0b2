import type { MemoryMode } from '../../model/environment.ts'
import type { CopiedMemory, ProcessMemory, SnapshotMemory } from '../../model/snapshot.ts'
import type { MemoryImages } from '../images/memory/pages.ts'
import { unjudged, type Verdicts } from './verdicts.ts'

/** A process in a snapshot's images. */
export interface ImagedProcess {
  readonly pid: number
  readonly memory: MemoryImages
  /** pages that CRIU copies */
  readonly copiedBytes: number
  /** absent if it is less than is ever shared */
  readonly copied?: readonly CopiedMemory[]
}

/** How the processes of a snapshot get their memory. */
export function summarize(
  mode: MemoryMode,
  imaged: readonly ImagedProcess[],
  verdicts: Verdicts,
  mappedBytes: (memory: MemoryImages) => number,
): SnapshotMemory {
  const processes = imaged.map(({ pid, memory, copiedBytes, copied }): ProcessMemory => {
    const { command, allowed, why } = verdicts.get(pid) ?? unjudged
    const sharedBytes = mappedBytes(memory)
    const shared = sharedBytes > 0
    return {
      pid,
      command,
      shared,
      sharedBytes,
      copiedBytes,
      why: allowed && !shared ? 'too little to share' : why,
      ...(copied && { copied }),
    }
  })
  return {
    mode,
    sharedBytes: processes.reduce((sum, { sharedBytes }) => sum + sharedBytes, 0),
    copiedBytes: processes.reduce((sum, { copiedBytes }) => sum + copiedBytes, 0),
    processes,
  }
}
