import type { FileVerdict } from './judge-file.ts'
import { keyOf } from './judge-mapped-file.ts'
import { describeProcess, judgeProcess, type ProcessVerdict } from './judge-process.ts'
import type { MappedFile } from './mapped-files.ts'
import type { Survey } from './survey.ts'

export interface JudgeOptions {
  /** whether a path in a process's maps is one of our pages files */
  readonly isOwn?: (path: string) => boolean
  readonly longestMs?: number
}

/** Measured: 200 node processes take 40 ms. */
const longestMs = 500

/**
 * Judges frozen processes, given their pids on the host, by what a survey saw while they ran. Opens no
 * file: if the survey did not see a file, or saw it before it changed, the process's memory is copied.
 */
export function judgeEnvironment(
  pids: readonly number[],
  survey: Survey,
  { isOwn = () => false, ...limits }: JudgeOptions = {},
): ProcessVerdict[] {
  const deadline = performance.now() + (limits.longestMs ?? longestMs)
  const recall = (file: MappedFile) => recallVerdict(file, survey)
  return pids.map((pid) => {
    if (performance.now() <= deadline) return judgeProcess(pid, recall, isOwn)
    return { ...describeProcess(pid), share: false, why: 'not judged in time', reached: [] }
  })
}

function recallVerdict(file: MappedFile, survey: Survey): FileVerdict {
  if (file.path.startsWith('/memfd:')) return { safe: false, why: 'a file in memory' }
  const known = survey.get(file.identity)
  if (known === undefined) return { safe: false, why: 'not judged in time' }
  if (!known.verdict.safe) return known.verdict
  return keyOf(file) === known.key ? known.verdict : { safe: false, why: 'has just changed' }
}
