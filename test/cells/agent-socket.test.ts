// Root inside can connect to the agent's socket as often as it likes. The host must still get a connection.
import { afterAll, afterEach, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('agent-socket', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

/** Runs a Python program inside until it prints `ready`. */
async function attacked(program: string): Promise<Environment> {
  const env = await fp.create()
  const attack = await env.spawn(['/usr/bin/python3', '-c', program], { mode: 'process' })
  for await (const chunk of attack.stdout) {
    expect(chunk.toString()).toBe('ready\n')
    break
  }
  attack.detach()
  return env
}

const idle = `
import socket, time
kept = []
for _ in range(200):
    s = socket.socket(socket.AF_UNIX); s.settimeout(1)
    try: s.connect('/run/forkpoint/agent.sock'); kept.append(s)
    except OSError: pass
print('ready', flush=True)
time.sleep(1000)
`

const flood = `
import os, socket
for _ in range(3):
    if os.fork() == 0: break
else:
    print('ready', flush=True)
while True:
    s = socket.socket(socket.AF_UNIX); s.setblocking(False)
    try: s.connect('/run/forkpoint/agent.sock')
    except OSError: pass
`

async function isReached(env: Environment): Promise<void> {
  await using other = await home.open()
  const same = await other.get(env.id)
  expect((await same.exec('echo reached')).stdout).toBe('reached\n')
}

test('two hundred idle connections from inside do not keep the host out', async () => {
  const env = await attacked(idle)
  await isReached(env)
  await env.snapshot()
  await isReached(env)
})

test('endless connections from inside do not keep the host out', async () => {
  await isReached(await attacked(flood))
})

test('a connection from inside is refused', async () => {
  const env = await fp.create()
  const program = `
import socket
s = socket.socket(socket.AF_UNIX); s.connect('/run/forkpoint/agent.sock')
print(s.recv(100))`
  const { stdout } = await env.exec(['/usr/bin/python3', '-c', program], { mode: 'process' })
  expect(stdout).toBe("b''\n")
})
