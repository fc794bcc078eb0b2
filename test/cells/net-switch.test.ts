// The network of an environment that exists is switched on and off while its programs run.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { OutsideNetwork, whyNoNetworks } from '../support/outside-network.ts'
import { patiently } from '../support/patiently.ts'
import { remainsOf } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('net-switch')
const outside = whyNoNetworks === null ? await OutsideNetwork.start() : null
const far = outside as OutsideNetwork
const fp = await home.open()
let env: Environment

afterAll(async () => {
  await home.removeAll()
  await outside?.[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})
beforeEach((ctx) => {
  if (whyNoNetworks !== null) ctx.skip(whyNoNetworks)
})

/** Counts, serves on loopback, and holds a connection to a program outside as soon as it can. */
const program = `
import socket, threading, time, sys
def serve():
    s = socket.create_server(('127.0.0.1', 8000))
    while True:
        c, _ = s.accept(); c.sendall(b'served'); c.close()
threading.Thread(target=serve, daemon=True).start()
count = 0
while True:
    count += 1
    open('/root/count.new', 'w').write(str(count))
    import os; os.rename('/root/count.new', '/root/count')
    time.sleep(0.05)
`

const holding = `
import socket, sys
s = socket.create_connection((sys.argv[1], 7001), 10)
s.settimeout(None)
print('connected', flush=True)
try:
    print('answer', s.recv(10), flush=True)
except OSError as error:
    print('cut:', error, flush=True)
`

/** A server beyond the host that accepts and says nothing. */
const silent = `
import socket
s = socket.create_server(('0.0.0.0', 7001))
print('listening', flush=True)
held = []
while True: held.append(s.accept()[0])
`

async function ask(from: Environment, address = far.address): Promise<string> {
  const script = `
import socket, sys
try:
    print(socket.create_connection((sys.argv[1], ${far.port}), 5).recv(100).decode())
except OSError as error: print('no:', error)`
  const words = ['/usr/bin/python3', '-c', script, address]
  return (await from.exec(words, { mode: 'process' })).stdout.trim()
}

const counted = async (of: Environment) => Number((await of.exec('cat /root/count')).stdout)

async function stillCounts(of: Environment): Promise<void> {
  const before = await counted(of)
  await expect.poll(() => counted(of), patiently).toBeGreaterThan(before)
}

const interfaces = async (of: Environment) => (await of.exec('ls /sys/class/net')).stdout.trim()

beforeAll(async () => {
  if (whyNoNetworks !== null) return
  env = await fp.create({ name: 'switched' })
  await env.spawn(['/usr/bin/python3', '-c', program], { mode: 'process' })
})

test('an environment without a network gets one, and its programs continue', async () => {
  await expect.poll(() => counted(env), patiently).toBeGreaterThan(0)
  const [{ stdout: pid }, before] = [await env.exec('echo $$'), await env.info()]
  expect(before.net.mode).toBe('none')
  expect(await ask(env)).toContain('unreachable')
  expect(await env.setNet('nat')).toEqual([])
  expect((await env.info()).net).toEqual({ mode: 'nat', allow: [] })
  expect(await ask(env)).toBe(far.hostAddress)
  expect(await ask(env, far.hostAddress)).toContain('no:')
  await stillCounts(env)
  expect((await env.exec('echo $$')).stdout).toBe(pid)
  const { stdout } = await env.exec('cat /etc/resolv.conf')
  expect(stdout).not.toMatch(/nameserver\s+127\./)
})

test('what is forked now has a network of its own; a port that was forwarded before still works', async () => {
  await using forward = await env.ports.forward(8000)
  const served = async () => await text(connect(forward.port, forward.host))
  expect(await served()).toBe('served')
  const withNet = await env.snapshot({ name: 'with-net' })
  await env.setNet('none')
  expect(await served()).toBe('served')
  const [fork] = await withNet.fork(1, { name: 'fork-with-net' })
  if (fork === undefined) throw new Error('no fork')
  expect((await fork.info()).net.mode).toBe('nat')
  expect(await ask(fork)).toBe(far.hostAddress)
  await fork.setNet('none')
  expect(await ask(fork)).toContain('unreachable')
  expect(remainsOf(home).interfaces).toEqual([])
  await fork.remove()
})

test('restoring a snapshot keeps the network that the environment has now', async () => {
  await env.restore('with-net')
  expect((await env.info()).net.mode).toBe('none')
  expect(await interfaces(env)).toBe('lo')
  await stillCounts(env)
  // A life that was prepared before must not come back without a network.
  const without = await env.snapshot({ name: 'without-net' })
  await fp.sparesReady()
  await env.setNet('nat')
  await env.restore(without)
  expect((await env.info()).net.mode).toBe('nat')
  expect(await ask(env)).toBe(far.hostAddress)
})

test('taking the network away cuts connections at once, and says which', async () => {
  const server = far.python(silent)
  try {
    if (server.stdout) await once(server.stdout, 'data')
    const held = await env.spawn(['/usr/bin/python3', '-c', holding, far.address], {
      mode: 'process',
    })
    const said: string[] = []
    for await (const chunk of held.stdout) {
      said.push(chunk.toString())
      if (said.length > 1) break
      expect(await env.setNet('none')).toEqual([{ address: far.address, port: 7001 }])
    }
    expect(said).toEqual(['connected\n', expect.stringMatching(/^cut: /)])
  } finally {
    server.kill('SIGKILL')
  }
  expect(await interfaces(env)).toBe('lo')
  expect(await ask(env)).toContain('unreachable')
  await stillCounts(env)
  expect(remainsOf(home).interfaces).toEqual([])
})

test('a socket that is bound to the address which it had stays, in copies too', async () => {
  await env.setNet('nat')
  const own = "$(ip -4 -o addr show eth0 | sed 's/.*inet //; s,/.*,,')"
  const bind =
    'import socket, sys, time; s = socket.create_server((sys.argv[1], 8001)); time.sleep(1000)'
  await env.exec(`python3 -c '${bind}' ${own} & `)
  const listening = async (of: Environment) => (await of.exec('ss -Hltn')).stdout
  await expect.poll(() => listening(env), patiently).toContain(':8001')
  await env.setNet('none')
  const [fork] = await env.fork(1)
  if (fork === undefined) throw new Error('no fork')
  expect(await listening(fork)).toContain(':8001')
  expect((await fork.exec('cat /proc/sys/net/ipv4/ip_nonlocal_bind')).stdout).toBe('0\n')
  await fork.remove()
  await env.exec('kill %%')
})

test('a paused or released environment has its new network when it continues', async () => {
  await env.pause()
  await env.setNet('nat')
  await env.resume()
  expect(await ask(env)).toBe(far.hostAddress)
  await env.pause({ release: true })
  await env.setNet('none')
  await env.resume()
  expect(await interfaces(env)).toBe('lo')
  await env.pause({ release: true })
  await env.setNet('nat')
  await env.resume()
  expect(await ask(env)).toBe(far.hostAddress)
  await stillCounts(env)
})

test('what it may reach can be changed, and is closed again', async () => {
  const set = ['list', 'set', 'ip', `forkpoint_${home.key}`, 'allowed']
  const allowed = () => execFileSync('nft', set, { encoding: 'utf8' })
  await env.setNet('nat', { allow: ['192.0.2.0/24', '192.0.2.77'] })
  expect(allowed()).toContain('192.0.2.0/24')
  await env.setNet('nat', { allow: ['192.0.2.77'] })
  expect(allowed()).toContain('192.0.2.77')
  expect(allowed()).not.toContain('192.0.2.0/24')
  expect(await ask(env)).toBe(far.hostAddress)
  await env.setNet('none')
  expect(allowed()).not.toContain('elements')
  expect((await env.info()).net).toEqual({ mode: 'none', allow: ['192.0.2.77/32'] })
  await expect(env.setNet('none', { allow: ['192.0.2.1'] })).rejects.toMatchObject({
    code: 'invalid_input',
  })
})

test('if there is no address left, it stays as it was', async () => {
  const tight = await home.open({ 'net.pool': '10.214.0.0/29' })
  const [one, two] = await Promise.all([
    tight.create({ net: 'nat' }),
    tight.create({ net: 'nat', name: 'second' }),
  ])
  const mine = await tight.get('switched')
  await expect(mine.setNet('nat')).rejects.toMatchObject({ code: 'resource' })
  expect((await mine.info()).net.mode).toBe('none')
  expect(await interfaces(mine)).toBe('lo')
  await stillCounts(mine)
  await one.remove()
  await mine.setNet('nat')
  expect(await interfaces(mine)).toBe('eth0\nlo')
  await Promise.all([two.remove(), mine.setNet('none')])
})
