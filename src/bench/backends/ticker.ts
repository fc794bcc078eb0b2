import { join } from 'node:path'
import type { Environment } from '../../index.ts'
import { python } from '../workloads/python.ts'
import { run } from '../workloads/workload.ts'

/**
 * Wakes up every half millisecond, and prints the longest time in ms that it could not. Bytes, not text: the
 * root file system has only the modules that the session loads.
 */
const ticker = `
import os, time
last, longest = time.time(), 0
os.close(os.open('tick.on', os.O_CREAT))
while not os.path.exists('tick.off'):
    time.sleep(0.0005)
    now = time.time()
    longest, last = max(longest, now - last), now
os.write(1, b'%f' % (longest * 1000))
`

/** The longest time that a process inside could not run during `work`, as it saw it by the wall clock. */
export async function pauseInAny<T>(
  env: Environment,
  work: () => Promise<T>,
): Promise<{ readonly pauseMs: number; readonly result: T }> {
  await env.files.write(join(env.lastInfo.workdir, 'tick.py'), ticker)
  await run(env, `${python} -I -S tick.py > tick.out 2> tick.err &`)
  await run(env, 'until [ -e tick.on ]; do sleep 0.01; done')
  const result = await work()
  const said = await run(env, ': > tick.off; wait %% 2> /dev/null; cat tick.out')
  if (!/^[\d.]+$/.test(said))
    throw new Error(`the ticker failed: ${await run(env, 'cat tick.err')}`)
  return { pauseMs: Number(said), result }
}
