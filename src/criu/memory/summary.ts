import type { MemoryMode } from '../../model/environment.ts'
import type { ProcessMemory, SnapshotMemory } from '../../model/snapshot.ts'
import type { Verdicts } from './verdicts.ts'

/** A process as a snapshot's images have it. */
export interface ImagedProcess {
  readonly pid: number
  readonly mm: Buffer
  /** pages that CRIU copies */
  readonly copiedBytes: number
}

/** How the processes of a snapshot come by their memory. */
export function summarize(
  mode: MemoryMode,
  imaged: readonly ImagedProcess[],
  verdicts: Verdicts,
  mappedBytes: (mm: Buffer) => number,
): SnapshotMemory {
  const processes = imaged.map(({ pid, mm, copiedBytes }): ProcessMemory => {
    const { command, allowed, why } = verdicts.get(pid) ?? unknown
    const sharedBytes = mappedBytes(mm)
    const shared = sharedBytes > 0
    return {
      ...{ pid, command, shared, sharedBytes, copiedBytes },
      why: allowed && !shared ? 'too little to share' : why,
    }
  })
  return {
    mode,
    sharedBytes: processes.reduce((sum, { sharedBytes }) => sum + sharedBytes, 0),
    copiedBytes: processes.reduce((sum, { copiedBytes }) => sum + copiedBytes, 0),
    processes,
  }
}

const unknown = { command: '', allowed: false, why: 'it ended while it was judged' }
