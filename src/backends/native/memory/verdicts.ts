import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MemoryMode } from '../../../model/environment.ts'
import type { Settings } from '../../../model/settings.ts'
import { judgeEnvironment } from '../safety/judge-environment.ts'
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
  const lines = readFileSync(join(cgroup, 'cgroup.procs'), 'utf8').split('\n')
  const judged = await judgeEnvironment(lines.filter(Boolean).map(Number), {
    // They are about programs, whatever the home: all homes with the same tools share them.
    cacheDirectory: join(runtime, 'verdicts'),
    isOwn: (path) => path.startsWith(`${pagesInside}/`),
  })
  return new Map(
    judged.map(({ pid, command, share, why }) => [
      pid,
      mode === 'auto'
        ? { command, allowed: share, why }
        : { command, allowed: mode === 'share', why: `memory is set to ${mode}` },
    ]),
  )
}
