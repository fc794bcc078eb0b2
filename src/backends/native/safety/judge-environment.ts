import type { FileVerdict } from './judge-file.ts'
import { judgeMappedFile } from './judge-mapped-file.ts'
import { judgeProcess, type ProcessVerdict } from './judge-process.ts'
import { VerdictCache } from './verdict-cache.ts'

export interface JudgeOptions {
  /** where verdicts on files are kept; made when the first one is */
  readonly cacheDirectory: string
  /** whether a path in a process's maps is a file of ours with pages of memory */
  readonly isOwn?: (path: string) => boolean
}

const caches = new Map<string, VerdictCache>()

/**
 * Judges processes, by their pids on the host, that run or are frozen. The first time that a large
 * program is seen takes up to half a second; call it before the freeze as well.
 */
export async function judgeEnvironment(
  pids: readonly number[],
  { cacheDirectory, isOwn = () => false }: JudgeOptions,
): Promise<ProcessVerdict[]> {
  const cache = caches.get(cacheDirectory) ?? new VerdictCache(cacheDirectory)
  caches.set(cacheDirectory, cache)
  const judged = new Map<string, FileVerdict | Promise<FileVerdict>>()
  const judgeOnce = (file: Parameters<typeof judgeMappedFile>[0]) => {
    const verdict = judged.get(file.identity) ?? judgeMappedFile(file, cache)
    judged.set(file.identity, verdict)
    return verdict
  }
  return await Promise.all(pids.map((pid) => judgeProcess(pid, judgeOnce, isOwn)))
}
