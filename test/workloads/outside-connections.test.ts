import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import type { Environment } from '../../src/index.ts'
import { unless } from '../support/evidence.ts'
import { OutsideNetwork, whyNoNetworks } from '../support/outside-network.ts'
import { TestHome } from '../support/test-home.ts'
import { dialogue } from '../support/workloads/dialogue.ts'

/** A server outside that answers every line with the number of lines on this connection. */
const countingServer = `
import socketserver
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for number, line in enumerate(self.rfile, 1):
            self.wfile.write(f'{number} {line.decode()}'.encode())
socketserver.ThreadingTCPServer.allow_reuse_address = True
server = socketserver.ThreadingTCPServer(('0.0.0.0', 7001), Handler)
print('listening', flush=True)
server.serve_forever()
`

/**
 * Answers questions about three connections: to one it sends what it is told, one has an answer that nobody has
 * read, and on one a thread waits.
 */
const client = (address: string) => `
import socket, sys, threading
talking, unread, waiting = [socket.create_connection(('${address}', 7001)) for _ in range(3)]
unread.sendall(b'early\\n')
unread.recv(1, socket.MSG_PEEK)
def receive(sock):
    try:
        return sock.recv(100).decode().strip() or 'closed'
    except OSError as error:
        return type(error).__name__
def tell(text):
    try:
        talking.sendall(text.encode() + b'\\n')
    except OSError as error:
        return type(error).__name__
    return receive(talking)
woken = []
thread = threading.Thread(target=lambda: woken.append(receive(waiting)), daemon=True)
thread.start()
for line in sys.stdin:
    word, _, text = line.strip().partition(' ')
    if word == 'say': print(text, flush=True)
    if word == 'tell': print(tell(text), flush=True)
    if word == 'unread': print(receive(unread), receive(unread), flush=True)
    if word == 'waiting': thread.join(10); print(woken, flush=True)
`

const talk = dialogue('talk', '/usr/bin/python3 /root/client.py', (mark) => `say ${mark}`)
const ask = (env: Environment) => talk.ask(env, 'tell hello')

const outside = whyNoNetworks === null ? await OutsideNetwork.start() : null
const home = new TestHome('outside')
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  await outside?.[Symbol.asyncDispose]()
})

test(
  'a connection to the outside continues in the original, and is reset in copies',
  unless(whyNoNetworks),
  async () => {
    if (outside === null) return
    const server = outside.python(countingServer)
    try {
      await new Promise((resolve) => server.stdout?.once('data', resolve))
      const fp = await home.open()
      const env = await fp.create({ net: 'nat' })
      await env.files.write('/root/client.py', client(outside.address))
      await talk.start(env)
      expect(await ask(env)).toBe('1 hello')
      const base = await env.snapshot()
      const [left, right] = await base.fork(2)
      if (!left || !right) throw new Error('fewer than two forks')
      expect(await talk.ask(left, 'waiting')).toBe("['ConnectionResetError']")
      expect(await talk.ask(left, 'unread')).toBe('1 early ConnectionResetError')
      expect(await ask(left)).toBe('ConnectionResetError')
      expect(await ask(env)).toBe('2 hello')
      expect(await ask(right)).toBe('ConnectionResetError')
      await env.snapshot()
      expect(await ask(env)).toBe('3 hello')
    } finally {
      server.kill('SIGKILL')
    }
  },
)

test('a copy is not made from images that changed on disk', unless(whyNoNetworks), async () => {
  const fp = await home.open({ 'spares.count': 0 })
  const env = await fp.create({ net: 'nat' })
  await env.exec(`exec 7<> /dev/tcp/${outside?.address}/${outside?.port}`)
  const base = await env.snapshot({ durable: true })
  const files = join(placesOf(home.path).snapshot(base.id), 'copies/files.img')
  const bytes = readFileSync(files)
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 0xff, bytes.length >> 1)
  writeFileSync(files, bytes)
  await expect(base.fork()).rejects.toThrow('the snapshot is damaged: copies/files.img')
})

test(
  'what copies lose is listed, and `strict` refuses instead',
  unless(whyNoNetworks),
  async () => {
    const fp = await home.open()
    const env = await fp.create({ net: 'nat' })
    const nothing = await env.snapshot({ strict: true })
    expect((await nothing.info()).lost).toEqual([])
    await env.exec(`exec 7<> /dev/tcp/${outside?.address}/${outside?.port}; mark=5`)
    const base = await env.snapshot()
    const { lost } = await base.info()
    expect(lost).toHaveLength(1)
    expect(lost[0]?.process?.command).toMatch(/bash/)
    expect(lost[0]?.object).toContain(`to ${outside?.address}:${outside?.port}`)
    const [fork] = await base.fork()
    expect((await fork?.info())?.lost).toEqual(lost)
    expect((await env.info()).lost).toEqual([])
    const refusal = /a copy would not have everything: .*bash.*TCP connection/
    await expect(base.fork(1, { strict: true })).rejects.toThrow(refusal)
    await expect(env.restore(base, { strict: true })).rejects.toThrow(refusal)
    const before = (await fp.snapshots()).length
    await expect(env.snapshot({ strict: true })).rejects.toThrow(refusal)
    expect(await fp.snapshots()).toHaveLength(before)
    expect((await env.exec('echo $mark; : >&7')).stdout).toBe('5\n')
    await env.restore(base)
    expect((await env.info()).lost).toEqual(lost)
    await env.restore(nothing)
    expect((await env.info()).lost).toEqual([])
  },
)
