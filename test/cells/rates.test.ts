import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { type Environment, InvalidInputError, UnsupportedError } from '../../src/index.ts'
import { unless } from '../support/evidence.ts'
import { whyNoNetworks } from '../support/outside-network.ts'
import { patiently } from '../support/patiently.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('rates')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

const mib = 2 ** 20
const kib = 2 ** 10

/** What it takes at least to move 6 MiB at 4 MiB/s. */
const leastSeconds = 1.3

/** How long `dd` takes inside. The kernel's limits are lower bounds, however busy the machine is. */
async function seconds(env: Environment, words: string): Promise<number> {
  const { stderr, exitCode } = await env.exec(`cd /root && dd bs=1M ${words}`)
  expect(exitCode, stderr).toBe(0)
  return Number(/, ([\d.]+) s,/.exec(stderr)?.[1])
}

const writing = (name: string) => `if=/dev/urandom of=${name} count=6 oflag=direct`
const reading = (name: string) => `if=${name} of=/dev/null iflag=direct`

describe('limits on the speed of disks', () => {
  const limits = { ioReadBytes: 4 * mib, ioWriteBytes: 4 * mib }

  test('hold for reads and direct writes, in forks and after a restore, too', async () => {
    const env = await fp.create({ limits })
    expect(await seconds(env, writing('a'))).toBeGreaterThan(leastSeconds)
    expect(await seconds(env, reading('a'))).toBeGreaterThan(leastSeconds)
    const taken = await env.snapshot()
    const [fork] = await taken.fork(1)
    await env.restore(taken)
    for (const life of [fork, env]) {
      if (!life) throw new Error('there is no fork')
      expect((await life.info()).limits).toMatchObject(limits)
      expect(await life.stats()).toMatchObject({
        ioReadLimitBytes: 4 * mib,
        ioWriteLimitBytes: 4 * mib,
        netLimitBytes: null,
      })
      expect(await seconds(life, reading('a'))).toBeGreaterThan(leastSeconds)
    }
  })

  test('do not slow down a neighbour, nor anything that sets none', async () => {
    const slow = await fp.create({ limits: { ioReadBytes: 64 * kib } })
    const other = await fp.create()
    await seconds(slow, writing('a'))
    const waiting = await slow.spawn('dd if=/root/a of=/dev/null bs=1M iflag=direct')
    await seconds(other, writing('b'))
    expect((await other.exec('stat -c %s /root/b')).stdout).toBe(`${6 * mib}\n`)
    expect((await slow.commands()).find(({ id }) => id === waiting.id)?.running).toBe(true)
  })

  test('do not keep an environment from being captured and removed while it waits for its disk', async () => {
    const env = await fp.create({ limits: { ioReadBytes: 4 * mib, ioWriteBytes: 64 * kib } })
    // Again and again, because it is let through during the snapshot.
    const once = `dd bs=4M conv=notrunc ${writing('/root/a')} 2> /dev/null`
    const waiting = await env.spawn(`while :; do ${once}; done`)
    const look = ['sh', '-c', 'grep -l "D (disk" /proc/[0-9]*/status']
    const waits = () => env.exec(look, { mode: 'process' })
    await expect.poll(async () => (await waits()).exitCode, patiently).toBe(0)
    const taken = await env.snapshot()
    expect(taken.lastInfo.captured).toContain('processes')
    await env.pause()
    await env.resume()
    // It waits again: the limits have come back.
    await expect.poll(async () => (await waits()).exitCode, patiently).toBe(0)
    await env.remove()
    await expect(waiting.wait()).rejects.toThrow()
    expect((await fp.list()).map(({ id }) => id)).not.toContain(env.id)
  })
})

describe('a limit on the speed of the network', unless(whyNoNetworks), () => {
  test('holds in both directions, in a fork, too, and leaves no rule behind', async () => {
    await using server = await startServer()
    const gate = { net: 'nat', netAllow: ['10.213.0.0/16'] } as const
    const env = await fp.create({ ...gate, limits: { netBytes: 2 * mib } })
    await env.files.write('/root/move.py', client(server.port))
    const [fork] = await env.fork(1)
    for (const life of [env, fork]) {
      if (!life) throw new Error('there is no fork')
      for (const way of ['up', 'down']) {
        const { stdout, stderr } = await life.exec(`python3 /root/move.py ${way}`)
        // Without a limit it takes milliseconds. A second's worth may pass at once.
        expect(Number(stdout), stderr).toBeGreaterThan(0.8)
      }
      expect(await life.stats()).toMatchObject({ netLimitBytes: 2 * mib })
    }
    expect(rules()).toContain('limit up_')
    await fork?.remove()
    // The last environment takes the whole table with it, so another one keeps it.
    await fp.create(gate)
    await env.remove()
    expect(rules()).not.toContain('limit up_')
  })

  test('needs a network', async () => {
    const wanted = fp.create({ limits: { netBytes: mib } })
    await expect(wanted).rejects.toBeInstanceOf(InvalidInputError)
    await expect(wanted).rejects.toMatchObject({ remedy: expect.stringContaining('--net nat') })
  })
})

test('a backend without limits of speed refuses them', async () => {
  for (const name of ['ioReadBytes', 'ioWriteBytes', 'netBytes']) {
    const wanted = fp.create({
      backend: 'podman',
      from: 'image:none',
      net: 'nat',
      limits: { [name]: mib },
    })
    await expect(wanted).rejects.toBeInstanceOf(UnsupportedError)
    await expect(wanted).rejects.toMatchObject({ capability: 'rates' })
  }
})

function rules(): string {
  return execFileSync('nft', ['list', 'table', 'ip', `forkpoint_${home.key}`], { encoding: 'utf8' })
}

/** Moves 4 MiB over one connection to the host, and says how many seconds that took. */
function client(port: number): string {
  return `
import socket, subprocess, sys, time
route = subprocess.check_output(['ip', 'route', 'show', 'default'], text=True).split()
began = time.monotonic()
s = socket.create_connection((route[2], ${port}))
if sys.argv[1] == 'up':
    s.sendall(b'u' + b'x' * (4 << 20))
    s.shutdown(socket.SHUT_WR)
else:
    s.sendall(b'd')
while s.recv(1 << 16): pass
print(time.monotonic() - began)
`
}

/** Takes all that comes, or sends 4 MiB, as the first byte says. Ends the connection when it is done. */
async function startServer() {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    socket.once('data', (first) => {
      if (first[0] === 'd'.charCodeAt(0)) return void socket.end(Buffer.alloc(4 * mib))
      socket.resume().once('end', () => socket.end())
    })
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    [Symbol.asyncDispose]: () => new Promise<void>((done) => server.close(() => done())),
  }
}
