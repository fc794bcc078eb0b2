import type { SnapshotId } from '../../model/ids.ts'
import type { SharingLimits } from '../images/memory/cuts.ts'
import { type SharedMemory, shareMemory } from '../images/memory/share.ts'
import { appendRegFiles, type NewRegularFile, nextFileId } from '../images/regular-files.ts'
import type { DumpedProcess } from './dumped-processes.ts'
import { pagesInside, pagesMode, pagesName } from './pages-files.ts'

/** Less is copied: a file, its mappings and faults cost more than the 0.3 ms that 1 MiB takes. */
const leastBytes = 2 ** 20

/** A process whose dumped pages become a file that is mapped. */
export interface Sharing {
  readonly process: DumpedProcess
  readonly memory: SharedMemory
  /** of that file */
  readonly name: string
}

export interface SharingRequest {
  readonly snapshot: SnapshotId
  /** files.img */
  readonly files: Buffer
  /** number of the mount that the pages files are on */
  readonly mntId: number
  readonly processes: readonly DumpedProcess[]
  readonly limits: SharingLimits
}

/** What is to be shared, and files.img with the files for it. */
export function planSharing(request: SharingRequest): { files: Buffer; sharings: Sharing[] } {
  const { snapshot, mntId, processes, limits } = request
  const sharings: Sharing[] = []
  const firstId = nextFileId(request.files)
  for (const process of processes) {
    if (process.pagesBytes < leastBytes) continue
    const memory = shareMemory(process, firstId + sharings.length, limits)
    if (memory === null || memory.sharedBytes < leastBytes) continue
    sharings.push({ process, memory, name: pagesName(snapshot, process.pagesId) })
  }
  const files = appendRegFiles(request.files, listPages(sharings, firstId, mntId))
  return { files, sharings }
}

/** Pages files as files.img lists them, numbered in their order. */
export function listPages(
  files: readonly { readonly name: string }[],
  firstId: number,
  mntId: number,
): NewRegularFile[] {
  return files.map(({ name }, index) => ({
    ...{ id: firstId + index, name: `${pagesInside}/${name}`, mntId, mode: pagesMode },
  }))
}

/** Two processes may have one memory, as in the moment between vfork and exec; these are left out. */
export function ownersOfPages(processes: readonly DumpedProcess[]): DumpedProcess[] {
  const users = Map.groupBy(processes, ({ pagesId }) => pagesId)
  return processes.filter(({ pagesId }) => users.get(pagesId)?.length === 1)
}
