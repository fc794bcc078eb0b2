// Addresses and connections of environments that are branched.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { unless } from '../support/evidence.ts'
import { OutsideNetwork, whyNoNetworks } from '../support/outside-network.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing, remainsOf } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('links')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

const addressOf = async (env: Environment): Promise<string> =>
  /inet ([\d.]+)/.exec((await env.exec('ip -4 addr show eth0')).stdout)?.[1] ?? ''

/** Answers every line with the same line, counted. */
const echoing = `
import socketserver, sys
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for count, line in enumerate(self.rfile):
            self.wfile.write(b'%d %s' % (count, line))
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
server = Server((sys.argv[1], 7001), Handler)
print('listening', flush=True)
server.serve_forever()
`

/** Keeps one connection: a line written to /root/ask is sent, its answer is in /root/answer. */
const asking = `
import os, socket, sys
os.mkfifo('/root/ask')
connection = socket.create_connection((sys.argv[1], 7001))
lines = connection.makefile('rw')
print('connected', file=open('/root/answer', 'w'))
while True:
    for line in open('/root/ask'):
        try:
            lines.write(line)
            lines.flush()
            answer = lines.readline() or 'closed'
        except OSError as error:
            answer = 'closed'
        open('/root/answer', 'w').write(answer)
`

async function connect(env: Environment, address: string): Promise<void> {
  await env.files.write('/root/asking.py', asking)
  await env.exec(`python3 /root/asking.py ${address} > /root/asking.log 2>&1 &`)
  await expectAnswer(env, 'connected')
}

async function ask(env: Environment, word: string): Promise<void> {
  await env.exec(`rm /root/answer; timeout 10 bash -c 'echo ${word} > /root/ask'`)
}

async function expectAnswer(env: Environment, text: string): Promise<void> {
  const answer = async () => (await env.exec('cat /root/answer; cat /root/asking.log')).stdout
  await expect.poll(answer, patiently).toContain(text)
}

test('an established loopback connection continues in the original and in every fork', async () => {
  await using fp = await home.open()
  const env = await fp.create({ net: 'none' })
  await env.files.write('/root/echoing.py', echoing)
  await env.exec('python3 /root/echoing.py 127.0.0.1 > /root/log 2>&1 &')
  await expect
    .poll(async () => (await env.exec('cat /root/log')).stdout, patiently)
    .toBe('listening\n')
  await connect(env, '127.0.0.1')
  await ask(env, 'first')
  await expectAnswer(env, '0 first')
  const forks = await env.fork(2)
  for (const [index, branch] of [env, ...forks].entries()) {
    await ask(branch, `branch${index}`)
    await expectAnswer(branch, `1 branch${index}`)
  }
})

describe('an environment with a network', unless(whyNoNetworks), () => {
  let outside: OutsideNetwork | undefined
  let server: ChildProcess | undefined

  beforeAll(async () => {
    outside = await OutsideNetwork.start()
    const words = ['netns', 'exec', outside.namespace, 'python3', '-c', echoing, '0.0.0.0']
    server = spawn('ip', words, { stdio: ['ignore', 'pipe', 'inherit'] })
    if (server.stdout) await once(server.stdout, 'data')
  })

  afterAll(async () => {
    if (server?.kill('SIGKILL')) await once(server, 'exit')
    await outside?.[Symbol.asyncDispose]()
  })

  test('keeps its address across snapshot and restore, and forks get others', async () => {
    await using fp = await home.open()
    const env = await fp.create({ net: 'nat' })
    const address = await addressOf(env)
    const taken = await env.snapshot()
    expect(await addressOf(env)).toBe(address)
    await env.restore(taken)
    expect(await addressOf(env)).toBe(address)
    const forks = await taken.fork(3)
    const addresses = await Promise.all([env, ...forks].map(addressOf))
    expect(new Set(addresses).size).toBe(4)
    const target = `${outside?.address}/7000`
    for (const branch of [env, ...forks]) {
      const { stdout } = await branch.exec(`timeout 5 cat < /dev/tcp/${target}`)
      expect(stdout).toMatch(/^[\d.]+$/)
    }
  })

  test('keeps a connection to the outside, which is closed in forks', async () => {
    await using fp = await home.open()
    const env = await fp.create({ net: 'nat' })
    await connect(env, outside?.address ?? '')
    await ask(env, 'first')
    await expectAnswer(env, '0 first')
    const [copy] = await env.fork()
    if (!copy) throw new Error('no fork')
    await ask(copy, 'copy')
    await expectAnswer(copy, 'closed')
    await ask(env, 'second')
    await expectAnswer(env, '1 second')
    await env.snapshot()
    await ask(env, 'third')
    await expectAnswer(env, '2 third')
  })

  test('removes the NAT rules with it if it is the last one, even if a snapshot stays', async () => {
    await using fp = await home.open()
    const env = await fp.create({ net: 'nat' })
    const kept = await env.snapshot()
    await env.remove()
    expect(remainsOf(home).nftTables).toEqual([])
    const [copy] = await kept.fork()
    expect(copy && (await addressOf(copy))).toMatch(/^10\./)
  })
})
