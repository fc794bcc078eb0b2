import { Budget, type BudgetLimits, surveyLimits } from './budget.ts'
import { FileSystems } from './file-systems.ts'
import { judgeMappedFile, type KeyedVerdict } from './judge-mapped-file.ts'
import { type MappedFile, mappedFiles } from './mapped-files.ts'
import type { VerdictCache } from './verdict-cache.ts'

/** Verdicts on mapped files, by their identities. */
export type Survey = ReadonlyMap<string, KeyedVerdict>

export interface SurveyOptions {
  /** verdicts on files that were seen before */
  readonly cache: VerdictCache
  /** whether a path in a process's maps is one of our pages files */
  readonly isOwn?: (path: string) => boolean
  readonly limits?: BudgetLimits
}

/**
 * Reads the programs of processes, given their pids on the host, as far as the budget allows. Call it
 * while the processes run: reading a large program for the first time takes up to half a second.
 */
export async function surveyPrograms(
  pids: readonly number[],
  { cache, isOwn = () => false, limits = surveyLimits }: SurveyOptions,
): Promise<Survey> {
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
      // One unsafe file decides for the whole process.
      if ((await judge(file, pid))?.verdict.safe !== true) break
    }
  }
  return survey
}
