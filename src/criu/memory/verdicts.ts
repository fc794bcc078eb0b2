import { join } from 'node:path'
import { processesIn } from '../../linux/processes-in.ts'
import type { MemoryMode } from '../../model/environment.ts'
import type { Settings } from '../../model/settings.ts'
import { judgeEnvironment } from '../safety/judge-environment.ts'
import { describeProcess } from '../safety/judge-process.ts'
import { type Survey, surveyPrograms } from '../safety/survey.ts'
import { pagesInside } from './pages-files.ts'

/** Whether a process may map its memory from files, and what decided it. */
export interface Verdict {
  readonly command: string
  readonly allowed: boolean
  readonly why: string
}

/** By the number of a process inside. */
export type Verdicts = ReadonlyMap<number, Verdict>

/** Looks at the programs of a cgroup's processes, which run: nothing is read of a program later. */
export async function surveyProcesses(
  { runtime }: Pick<Settings, 'runtime'>,
  cgroup: string,
  mode: MemoryMode,
): Promise<Survey> {
  if (mode !== 'auto') return new Map()
  return await surveyPrograms(processesIn(cgroup), {
    // They are about programs, whatever the home: all homes with the same tools share them.
    ...{ cacheDirectory: join(runtime, 'verdicts'), isOwn },
  })
}

/** On processes that are frozen. */
export function judgeProcesses(survey: Survey, cgroup: string, mode: MemoryMode): Verdicts {
  const pids = processesIn(cgroup)
  if (mode !== 'auto') return decided(pids.map(describeProcess), mode)
  const judged = judgeEnvironment(pids, survey, { isOwn })
  return new Map(
    judged.map(({ pid, command, share, why }) => [pid, { command, allowed: share, why }]),
  )
}

function isOwn(path: string): boolean {
  return path.startsWith(`${pagesInside}/`)
}

/** Without looking at any program. */
function decided(
  processes: readonly { readonly pid: number; readonly command: string }[],
  mode: 'share' | 'copy',
): Verdicts {
  const verdict = { allowed: mode === 'share', why: `memory is set to ${mode}` }
  return new Map(processes.map(({ pid, command }) => [pid, { command, ...verdict }]))
}
