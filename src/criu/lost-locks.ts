import { nativeProgram } from '../linux/native-program.ts'
import { mustRun } from '../linux/run-tool.ts'
import type { LostLock } from './images/lost-locks.ts'

/** Takes locks again for frozen processes that were restored and have not run yet. */
export async function retakeLocks(
  cgroup: string,
  locks: readonly LostLock[],
  then: 'running' | 'frozen',
): Promise<void> {
  const lines = locks.map(({ pid, fd, type, start, length }) =>
    [pid, fd, type, start, length].join(' '),
  )
  const args = ['relock', cgroup, ...(then === 'frozen' ? ['hold'] : [])]
  await mustRun('taking file locks again', nativeProgram('cell'), args, {
    input: `${lines.join('\n')}\n`,
  })
}
