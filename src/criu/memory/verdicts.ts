import { processesIn } from '../../linux/processes-in.ts'
import type { MemoryMode } from '../../model/environment.ts'
import { judgeEnvironment } from '../safety/judge-environment.ts'
import { describeProcess } from '../safety/judge-process.ts'
import type { Reached } from '../safety/reach.ts'
import { type Survey, surveyPrograms } from '../safety/survey.ts'
import type { VerdictCache } from '../safety/verdict-cache.ts'
import { pagesInside } from './pages-files.ts'

/** Whether a process may map its memory from files, and what decided it. */
export interface Verdict {
  readonly command: string
  readonly allowed: boolean
  readonly why: string
  /** memory that it may not map nevertheless */
  readonly reached: readonly Reached[]
}

export const unjudged: Verdict = {
  command: '',
  allowed: false,
  why: 'it ended before it was judged',
  reached: [],
}

/** By the pid inside. */
export type Verdicts = ReadonlyMap<number, Verdict>

/** Reads the programs of a cgroup's processes while they run: later there is no time to read any. */
export async function surveyProcesses(
  cache: VerdictCache,
  cgroup: string,
  mode: MemoryMode,
): Promise<Survey> {
  if (mode !== 'auto') return new Map()
  return await surveyPrograms(processesIn(cgroup), { cache, isOwn })
}

/** Judges processes that are frozen. */
export function judgeProcesses(survey: Survey, cgroup: string, mode: MemoryMode): Verdicts {
  const pids = processesIn(cgroup)
  if (mode !== 'auto') return decided(pids.map(describeProcess), mode)
  const judged = judgeEnvironment(pids, survey, { isOwn })
  return new Map(judged.map(({ pid, share, ...rest }) => [pid, { ...rest, allowed: share }]))
}

function isOwn(path: string): boolean {
  return path.startsWith(`${pagesInside}/`)
}

/** Verdicts that the settings decide, whatever the programs are. */
function decided(
  processes: readonly { readonly pid: number; readonly command: string }[],
  mode: 'share' | 'copy',
): Verdicts {
  const allowed = mode === 'share'
  const why = `memory is set to ${mode}`
  return new Map(processes.map(({ pid, command }) => [pid, { command, allowed, why, reached: [] }]))
}
