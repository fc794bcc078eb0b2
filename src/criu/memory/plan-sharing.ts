import type { SnapshotId } from '../../model/ids.ts'
import type { ImageFile } from '../images/format/image-file.ts'
import type { SharingLimits } from '../images/memory/cuts.ts'
import type { Addresses } from '../images/memory/pages.ts'
import { type SharedMemory, shareMemory } from '../images/memory/share.ts'
import { appendRegFiles, type NewRegularFile, nextFileId } from '../images/regular-files.ts'
import type { DumpedProcess } from './dumped-processes.ts'
import { pagesInside, pagesMode, pagesName } from './pages-files.ts'

/** Less than this is copied: copying 1 MiB takes 0.3 ms; a file, its mappings and faults take longer. */
export const leastBytes = 2 ** 20

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
  readonly files: ImageFile
  /** number of the mount that the pages files are on */
  readonly mntId: number
  readonly processes: readonly DumpedProcess[]
  readonly limits: SharingLimits
  /** memory that stays as it is, in order of addresses */
  readonly reachedOf: (process: DumpedProcess) => readonly Addresses[]
}

/** What will be shared, and files.img with the files for it. */
export function planSharing(request: SharingRequest): { files: ImageFile; sharings: Sharing[] } {
  const { snapshot, mntId, processes, limits, reachedOf } = request
  const sharings: Sharing[] = []
  const firstId = nextFileId(request.files)
  for (const process of processes) {
    if (process.pagesBytes < leastBytes) continue
    const fileId = firstId + sharings.length
    const memory = shareMemory(process, fileId, limits, reachedOf(process))
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
    id: firstId + index,
    name: `${pagesInside}/${name}`,
    mntId,
    mode: pagesMode,
  }))
}

/** Leaves out processes that share one memory, as they do between vfork and exec. */
export function ownersOfPages(processes: readonly DumpedProcess[]): DumpedProcess[] {
  const users = Map.groupBy(processes, ({ pagesId }) => pagesId)
  return processes.filter(({ pagesId }) => users.get(pagesId)?.length === 1)
}
