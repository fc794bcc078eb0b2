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

/** Sends each line to the server and prints the answer, or that the connection has ended. */
const client = (address: string) => `
import socket, sys
s = socket.create_connection(('${address}', 7001))
for line in sys.stdin:
    word, _, text = line.strip().partition(' ')
    if word == 'say': print(text, flush=True); continue
    try:
        s.sendall(text.encode() + b'\\n')
        print(s.recv(100).decode().strip() or 'closed', flush=True)
    except OSError as error:
        print('closed', flush=True)
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
  'a connection to the outside continues in the original, and is closed in copies',
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
      expect(await ask(left)).toBe('closed')
      expect(await ask(env)).toBe('2 hello')
      expect(await ask(right)).toBe('closed')
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
