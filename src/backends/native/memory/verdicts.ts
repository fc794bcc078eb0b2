import { join } from 'node:path'
import type { MemoryMode } from '../../../model/environment.ts'
import type { Settings } from '../../../model/settings.ts'
import { processesIn } from '../cgroup.ts'
import { judgeEnvironment } from '../safety/judge-environment.ts'
import { describeProcess } from '../safety/judge-process.ts'
import { pagesInside } from './pages-files.ts'

/** Whether a process may map its memory from files, and what decided it. */
export interface Verdict {
  readonly command: string
  readonly allowed: boolean
  readonly why: string
}

/** By the number of a process inside. */
export type Verdicts = ReadonlyMap<number, Verdict>

export async function judgeProcesses(
  { runtime }: Pick<Settings, 'runtime'>,
  cgroup: string,
  mode: MemoryMode,
): Promise<Verdicts> {
  const pids = processesIn(cgroup)
  if (mode !== 'auto') return decided(pids.map(describeProcess), mode)
  const judged = await judgeEnvironment(pids, {
    // They are about programs, whatever the home: all homes with the same tools share them.
    cacheDirectory: join(runtime, 'verdicts'),
    isOwn: (path) => path.startsWith(`${pagesInside}/`),
  })
  return new Map(
    judged.map(({ pid, command, share, why }) => [pid, { command, allowed: share, why }]),
  )
}

/** Without looking at any program. */
function decided(
  processes: readonly { readonly pid: number; readonly command: string }[],
  mode: 'share' | 'copy',
): Verdicts {
  const verdict = { allowed: mode === 'share', why: `memory is set to ${mode}` }
  return new Map(processes.map(({ pid, command }) => [pid, { command, ...verdict }]))
}
