// One fork gets the connections of the original to the outside.
import { afterAll, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { unless } from '../support/evidence.ts'
import { OutsideNetwork, whyNoNetworks } from '../support/outside-network.ts'
import { TestHome } from '../support/test-home.ts'
import { dialogue } from '../support/workloads/dialogue.ts'
import { startFarServer } from '../undisturbed/support/far-server.ts'

/**
 * Four connections: it asks on one, on one a thread waits, on one a download never ends, and on one much was sent
 * that nobody has answered yet.
 */
const client = (address: string) => `
import socket, sys, threading
def connect():
    return socket.create_connection(('${address}', 7100), 20)
talking, waiting, loading, sending = [connect() for _ in range(4)]
for each in talking, waiting, loading: each.settimeout(20)
def end(work):
    try:
        return work()
    except OSError as error:
        return type(error).__name__
def tell(connection, text):
    connection.sendall(text.encode() + b'\\n')
    return connection.recv(100).decode().strip()
ends = {}
def load():
    at = 0
    loading.sendall(b'download\\n')
    while True:
        data = loading.recv(20000)
        if data != bytes((at + i) % 251 for i in range(len(data))) or not data: return f'wrong at {at}'
        at += len(data)
        global loaded
        loaded = at
loaded = 0
waiting.settimeout(None)
def begin(name, work):
    thread = threading.Thread(target=lambda: ends.update({name: end(work)}), daemon=True)
    thread.start()
    return thread
reader = begin('waiting', lambda: waiting.recv(100).decode().strip())
loader = begin('loading', load)
for line in sys.stdin:
    word, _, text = line.strip().partition(' ')
    if word == 'say': print(text, flush=True)
    if word == 'tell': print(end(lambda: tell(talking, text)), flush=True)
    if word == 'new': print(end(lambda: tell(connect(), text)), flush=True)
    if word == 'wake': waiting.sendall(text.encode() + b'\\n'); reader.join(20); print(ends.get('waiting'), flush=True)
    if word == 'waiting': reader.join(20); print(ends.get('waiting'), flush=True)
    if word == 'loading':
        before = loaded
        while loaded < before + 100000 and loader.is_alive(): loader.join(0.05)
        print(ends.get('loading', 'right'), flush=True)
    if word == 'send': sending.sendall(b'upload\\n' + bytes(i % 251 for i in range(400000))); print('sent', flush=True)
    if word == 'sent': sending.shutdown(socket.SHUT_WR); print(sending.recv(100).decode().strip(), flush=True)
`

const talk = dialogue('talk', '/usr/bin/python3 /root/client.py', (mark) => `say ${mark}`)

const outside = whyNoNetworks === null ? await OutsideNetwork.start() : null
const server = outside && (await startFarServer(outside))
const home = new TestHome('kept-connections')
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
  await outside?.[Symbol.asyncDispose]()
})

async function heirOf(env: Environment): Promise<Environment> {
  const [heir] = await env.fork(1, { connections: 'keep' })
  if (heir === undefined) throw new Error('there is no fork')
  return heir
}

test('a fork is given the connections, and they are closed in the original', {
  ...unless(whyNoNetworks),
  timeout: 120_000,
}, async () => {
  const fp = await home.open()
  const env = await fp.create({ net: 'nat' })
  await env.files.write('/root/client.py', client(outside?.address ?? ''))
  await talk.start(env)
  expect(await talk.ask(env, 'tell hello')).toBe('1 hello')
  expect(await talk.ask(env, 'loading')).toBe('right')

  // Whatever goes wrong before, the original has them.
  await env.exec(
    'mkdir -p /etc/forkpoint/on-fork.d && cp /bin/false /etc/forkpoint/on-fork.d/fails',
  )
  await expect(heirOf(env)).rejects.toThrow('a fork hook')
  await expect(env.fork(2, { connections: 'keep' })).rejects.toThrow(
    '2 forks cannot have the same connections',
  )
  await env.exec('rm /etc/forkpoint/on-fork.d/fails')
  expect(await talk.ask(env, 'tell hello')).toBe('2 hello')
  expect(await talk.ask(env, 'loading')).toBe('right')

  expect(await talk.ask(env, 'send')).toBe('sent')
  const heir = await heirOf(env)
  expect((await heir.info()).lost).toEqual([])
  expect(await talk.ask(env, 'waiting')).toBe('ConnectionAbortedError')
  expect(await talk.ask(env, 'loading')).toBe('ConnectionAbortedError')
  expect(await talk.ask(env, 'tell hello')).toBe('ConnectionAbortedError')
  expect(await talk.ask(env, 'new hello')).toBe('1 hello')
  expect(await talk.ask(heir, 'tell hello')).toBe('3 hello')
  expect(await talk.ask(heir, 'wake up')).toBe('1 up')
  expect(await talk.ask(heir, 'loading')).toBe('right')
  expect(await talk.ask(heir, 'sent')).toBe('400000 right')
  expect(await talk.ask(heir, 'new hello')).toBe('1 hello')

  const next = await heirOf(heir)
  expect(await talk.ask(next, 'tell hello')).toBe('4 hello')
  expect(await talk.ask(next, 'loading')).toBe('right')
  expect(await talk.ask(heir, 'tell hello')).toBe('ConnectionAbortedError')
})
