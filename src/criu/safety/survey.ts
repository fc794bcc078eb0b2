import { Budget, type BudgetLimits, surveyLimits } from './budget.ts'
import { FileSystems } from './file-systems.ts'
import { judgeMappedFile, type KeyedVerdict } from './judge-mapped-file.ts'
import { type MappedFile, mappedFiles } from './mapped-files.ts'
import { VerdictCache } from './verdict-cache.ts'

/** Verdicts on mapped files, by their identities. */
export type Survey = ReadonlyMap<string, KeyedVerdict>

export interface SurveyOptions {
  /** where verdicts on files are kept; made when the first one is */
  readonly cacheDirectory: string
  /** whether a path in a process's maps is a file of ours with pages of memory */
  readonly isOwn?: (path: string) => boolean
  readonly limits?: BudgetLimits
}

const caches = new Map<string, VerdictCache>()

/**
 * Reads the programs of processes, by their pids on the host, as far as a budget goes. To be called
 * while the processes run: the first time that a large program is seen takes up to half a second.
 */
export async function surveyPrograms(
  pids: readonly number[],
  { cacheDirectory, isOwn = () => false, limits = surveyLimits }: SurveyOptions,
): Promise<Survey> {
  const cache = caches.get(cacheDirectory) ?? new VerdictCache(cacheDirectory)
  caches.set(cacheDirectory, cache)
  using budget = new Budget(limits)
  const survey = new Map<string, KeyedVerdict>()
  const fileSystems = new FileSystems()
  const judge = async (file: MappedFile, pid: number) => {
    if (!fileSystems.isLocal(file.device, pid)) return null
    const known = survey.get(file.identity) ?? (await judgeMappedFile(file, { cache, budget }))
    if (known) survey.set(file.identity, known)
    return known
  }
  for (const pid of pids) {
    for (const file of mappedFiles(pid) ?? []) {
      if (isOwn(file.path)) continue
      if (budget.isLate) return survey
      // One that is not safe decides for all of the process.
      if ((await judge(file, pid))?.verdict.safe !== true) break
    }
  }
  return survey
}
