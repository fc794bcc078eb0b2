import { readFileSync } from 'node:fs'
import { afterAll, afterEach, expect, test } from 'vitest'
import { BackendError, type Environment } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { run, runUntilDone } from '../support/workloads/run.ts'

const home = new TestHome('refused')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

const wait = 'print("ready", flush=True); time.sleep(1000)'

interface Refused {
  readonly program: string
  /** what the message says it has */
  readonly object: string
  /** what it is called there, if not by its command line */
  readonly named?: string
}

/** Python programs that each hold one thing that no image can contain. */
const programs: Readonly<Record<string, Refused>> = {
  'a seccomp listener': {
    object: 'a seccomp listener',
    program: `
import ctypes, struct, time
libc = ctypes.CDLL(None); libc.prctl(38, 1, 0, 0, 0)
class Program(ctypes.Structure): _fields_ = [('length', ctypes.c_ushort), ('filter', ctypes.c_char_p)]
allow = struct.pack('HBBI', 6, 0, 0, 0x7fff0000)
assert libc.syscall(317, 1, 8, ctypes.byref(Program(1, allow))) >= 0
${wait}`,
  },
  'a large file that is deleted but open': {
    object: 'the deleted but open file ',
    program: `
import os, time
f = open('/root/large', 'wb')
for _ in range(70): f.write(os.urandom(1 << 20))
f.flush()
os.unlink('/root/large')
${wait}`,
  },
  'a Landlock ruleset': {
    object: 'a Landlock ruleset',
    program: `
import ctypes, time
attr = (ctypes.c_uint64 * 1)(1)
assert ctypes.CDLL(None).syscall(444, attr, 8, 0) >= 0
${wait}`,
  },
  'a process under a debugger': {
    object: 'a tracer',
    program: `
import ctypes, os, time
child = os.fork()
if child == 0: time.sleep(1000)
assert ctypes.CDLL(None).ptrace(0x4206, child, 0, 0) == 0
${wait}`,
  },
  'a process whose first thread has ended': {
    object: 'threads, although its first thread has ended',
    named: '"python3" (pid ',
    program: `
import ctypes, threading, time
threading.Thread(target=lambda: time.sleep(1000)).start()
print("ready", flush=True)
ctypes.CDLL(None).syscall(60, 0)`,
  },
  'a process in a session that its parent has left': {
    object: 'a session (',
    named: '"python3" (pid ',
    program: `
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        if os.fork() == 0: time.sleep(1000)
        time.sleep(0.2)
        os.setsid()
        ${wait}
    os._exit(0)
os.wait()
time.sleep(1000)`,
  },
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
  '%s is refused by name, and the environment continues',
  async (_, { program, object, named = '/root/holder.py' }) => {
    const env = await fp.create()
    await start(env, program)
    const pids = await run(env, 'pgrep -f .')
    const refusal = await env.snapshot().catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(BackendError)
    expect(refusal).toMatchObject({
      message: expect.stringContaining(named),
      remedy: expect.stringMatching(/./),
      detail: { process: { pid: expect.any(Number) } },
    })
    expect(String(refusal)).toContain(`it has ${object}`)
    const { logPath } = refusal as BackendError
    if (logPath !== undefined) expect(readFileSync(logPath, 'utf8')).toMatch(/Error/)
    expect((await env.info()).head).toBeNull()
    expect(await run(env, 'pgrep -f .')).toBe(pids)
    expect(await run(env, 'echo $PWD $x $(jobs -r | wc -l)')).toBe('/usr/share kept 2')
    // Once it is gone, the snapshot works.
    await run(env, 'kill -9 %2; pkill -9 -f holder.py; wait %2; true')
    const base = await env.snapshot()
    expect((await env.info()).head).toBe(base.id)
    expect(await run(env, 'echo $PWD $x $(jobs -r | wc -l)')).toBe('/usr/share kept 1')
  },
)

/** Each gets into a state that cannot be captured, and out of it after a second. */
const passing = {
  'accepts a connection late': `
import socket, time
s = socket.socket(socket.AF_UNIX); s.bind('/root/sock'); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect('/root/sock'); c.send(b'hello')
print("ready", flush=True); time.sleep(1)
d, _ = s.accept()
print('got', d.recv(5).decode(), flush=True); time.sleep(1000)`,
  'accepts a TCP connection late': `
import socket, time
s = socket.socket(); s.bind(('127.0.0.1', 5001)); s.listen()
c = socket.socket(); c.connect(('127.0.0.1', 5001)); c.send(b'hello')
print("ready", flush=True); time.sleep(1)
d, _ = s.accept()
print('got', d.recv(5).decode(), flush=True); time.sleep(1000)`,
}

test.each(Object.entries(passing))('a program that %s is waited for', async (_, program) => {
  const env = await fp.create()
  await start(env, program)
  const taken = await env.snapshot()
  const [copy] = await taken.fork(1)
  if (!copy) throw new Error('no fork')
  for (const each of [env, copy]) await runUntilDone(each, 'grep -q "got hello" /root/said')
})
