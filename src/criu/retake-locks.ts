import type { Tools } from '../linux/tools.ts'
import type { LostLock } from './images/lost-locks.ts'

/** Takes locks again for restored processes that are still frozen and have not run yet. */
export async function retakeLocks(
  tools: Tools,
  cgroup: string,
  locks: readonly LostLock[],
  then: 'running' | 'frozen',
): Promise<void> {
  const lines = locks.map(({ pid, fd, type, start, length }) =>
    [pid, fd, type, start, length].join(' '),
  )
  const args = ['relock', cgroup, ...(then === 'frozen' ? ['hold'] : [])]
  await tools.runCell('taking file locks again', args, { input: `${lines.join('\n')}\n` })
}
