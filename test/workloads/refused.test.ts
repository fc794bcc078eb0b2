import { afterAll, afterEach, expect, test } from 'vitest'
import { BackendError, type Environment } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { run, runUntilDone } from '../support/workloads/run.ts'

const home = new TestHome('refused')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

const wait = 'print("ready", flush=True); time.sleep(1000)'

/** Python programs that each hold one thing that no image can carry. */
const programs = {
  'a large file that is deleted but open': `
import os, time
f = open('/root/large', 'wb')
for _ in range(70): f.write(os.urandom(1 << 20))
f.flush()
os.unlink('/root/large')
${wait}`,
  'a Landlock ruleset': `
import ctypes, time
attr = (ctypes.c_uint64 * 1)(1)
assert ctypes.CDLL(None).syscall(444, attr, 8, 0) >= 0
${wait}`,
  'a process under a debugger': `
import ctypes, os, time
child = os.fork()
if child == 0: time.sleep(1000)
assert ctypes.CDLL(None).ptrace(0x4206, child, 0, 0) == 0
${wait}`,
}

async function start(env: Environment, program: string): Promise<void> {
  await env.files.write('/root/holder.py', program)
  await run(
    env,
    'cd /usr/share; x=kept; sleep 1000 & /usr/bin/python3 /root/holder.py > /root/said 2>&1 &',
  )
  await runUntilDone(env, 'grep -q ready /root/said')
}

test.each(Object.entries(programs))(
  '%s is refused with its name, and nothing happens to the environment',
  async (_, program) => {
    const env = await fp.create()
    await start(env, program)
    const pids = await run(env, 'pgrep -f .')
    const refusal = await env.snapshot().catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(BackendError)
    expect(refusal).toMatchObject({
      message: expect.stringContaining('/root/holder.py'),
      remedy: expect.stringMatching(/./),
    })
    expect(env.head).toBeNull()
    expect(await run(env, 'pgrep -f .')).toBe(pids)
    expect(await run(env, 'echo $PWD $x $(jobs -r | wc -l)')).toBe('/usr/share kept 2')
    // When it is gone, nothing stands in the way.
    await run(env, 'kill -9 %2; pkill -9 -f holder.py; wait %2; true')
    const base = await env.snapshot()
    expect(env.head).toBe(base.id)
    expect(await run(env, 'echo $PWD $x $(jobs -r | wc -l)')).toBe('/usr/share kept 1')
  },
)
