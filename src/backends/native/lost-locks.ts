import { nativeProgram } from './cell.ts'
import type { LostLock } from './images/lost-locks.ts'
import { mustRun } from './run-tool.ts'

/** Takes locks again for processes that were restored and have not run yet, and lets them run. */
export async function retakeLocks(cgroup: string, locks: readonly LostLock[]): Promise<void> {
  const lines = locks.map(({ pid, fd, type, start, length }) =>
    [pid, fd, type, start, length].join(' '),
  )
  await mustRun('taking file locks again', nativeProgram('cell'), ['relock', cgroup], {
    input: `${lines.join('\n')}\n`,
  })
}
