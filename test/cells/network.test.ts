import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { agentPid } from '../support/cell-processes.ts'
import { OutsideNetwork, whyNoNetworks } from '../support/outside-network.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing, remainsOf } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('network')
const outside = whyNoNetworks === null ? await OutsideNetwork.start() : null
const host = createServer((socket) => socket.end('the host'))
await once(host.listen(0, '::'), 'listening')
const { port } = host.address() as AddressInfo

afterAll(async () => {
  host.close()
  await outside?.[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})
afterEach(() => home.removeAll())
const fp = await home.open()

const connecting = `
import socket, sys
try:
    s = socket.create_connection((sys.argv[1], int(sys.argv[2])), float(sys.argv[3]))
    print(s.recv(100).decode())
except OSError as error:
    print('no:', error)
`

/** What a server says to root inside, or why it cannot be reached. */
async function ask(env: Environment, address: string, at: number, patience = 1): Promise<string> {
  const words = ['/usr/bin/python3', '-c', connecting, address, String(at), String(patience)]
  return (await env.exec(words, { mode: 'process' })).stdout.trim()
}

const addressOf = async (env: Environment) =>
  /inet ([\d.]+)/.exec((await env.exec('ip -4 addr show eth0')).stdout)?.[1] ?? ''

const gatewayOf = async (env: Environment) =>
  /via ([\d.]+)/.exec((await env.exec('ip route show default')).stdout)?.[1] ?? ''

const listening = (env: Environment, text: string) =>
  env.spawn(
    [
      '/usr/bin/python3',
      '-c',
      `import socket
s = socket.create_server(('0.0.0.0', 7000))
print('listening', flush=True)
while True:
    c, _ = s.accept(); c.sendall(b'${text}'); c.close()`,
    ],
    { mode: 'process' },
  )

async function isListening(server: Awaited<ReturnType<typeof listening>>): Promise<void> {
  for await (const chunk of server.stdout) {
    expect(chunk.toString()).toBe('listening\n')
    return
  }
}

describe('net: none', () => {
  test('there is only loopback', async () => {
    const env = await fp.create({ net: 'none' })
    expect((await env.exec('ls /sys/class/net; ip -o link | wc -l')).stdout).toBe('lo\n1\n')
    expect((await env.exec('ip route')).stdout).toBe('')
    expect(await ask(env, '192.0.2.1', 80)).toContain('unreachable')
  })

  test('servers and clients inside talk over loopback', async () => {
    const env = await fp.create({ net: 'none' })
    await isListening(await listening(env, 'over loopback'))
    expect(await ask(env, '127.0.0.1', 7000)).toBe('over loopback')
    expect(await ask(env, 'localhost', 7000)).toBe('over loopback')
  })

  test('loopback is not that of the host', async () => {
    const env = await fp.create({ net: 'none' })
    expect(await ask(env, '127.0.0.1', port)).toContain('no:')
  })
})

describe('net: nat', () => {
  const far = outside as OutsideNetwork
  beforeEach((ctx) => {
    if (whyNoNetworks !== null) ctx.skip(whyNoNetworks)
  })

  test('hosts beyond this one can be reached, with its address', async () => {
    const env = await fp.create({ net: 'nat' })
    expect(await ask(env, far.address, far.port, 5)).toBe(far.hostAddress)
  })

  test('no address of the host can be reached', async () => {
    const env = await fp.create({ net: 'nat' })
    const addresses = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal }) => !internal)
      .map(({ address }) => (address.startsWith('fe80') ? `${address}%eth0` : address))
    expect(addresses).toContain(await gatewayOf(env))
    expect(addresses).toContain(far.hostAddress)
    const answers = await Promise.all(addresses.map((address) => ask(env, address, port)))
    for (const answer of answers) expect(answer).toContain('no:')
  })

  test('a neighbour cannot be reached', async () => {
    const [env, neighbour] = await Promise.all([
      fp.create({ net: 'nat' }),
      fp.create({ net: 'nat' }),
    ])
    await isListening(await listening(neighbour, 'the neighbour'))
    expect(await ask(env, await addressOf(neighbour), 7000)).toContain('no:')
    expect(await ask(neighbour, await addressOf(neighbour), 7000)).toBe('the neighbour')
  })

  test('netAllow opens only the addresses it names', async () => {
    const neighbour = await fp.create({ net: 'nat' })
    const other = await fp.create({ net: 'nat' })
    await isListening(await listening(neighbour, 'the neighbour'))
    await isListening(await listening(other, 'another'))
    const netAllow = [`${await addressOf(neighbour)}/32`, `${far.hostAddress}/32`]
    const env = await fp.create({ net: 'nat', netAllow })
    expect(await ask(env, await addressOf(neighbour), 7000, 5)).toBe('the neighbour')
    expect(await ask(env, far.hostAddress, port, 5)).toBe('the host')
    expect(await ask(env, await addressOf(other), 7000)).toContain('no:')
    expect(await ask(env, await gatewayOf(env), port)).toContain('no:')
    expect(await ask(neighbour, await addressOf(env), 7000)).toContain('no:')
  })

  test('environments made at the same time have their own addresses', async () => {
    const other = await home.open()
    const made = await Promise.all([fp, fp, other, other].map((one) => one.create({ net: 'nat' })))
    const addresses = await Promise.all(made.map(addressOf))
    expect(new Set(addresses).size).toBe(4)
    for (const address of addresses) expect(address).toMatch(/^10\.213\./)
  })

  test('a packet with a forged sender does not leave', async () => {
    const env = await fp.create({ net: 'nat' })
    const watch = far.python(`
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 253)
print('watching', flush=True)
while True:
    print(s.recvfrom(2000)[1][0], flush=True)
`)
    try {
      const seen: string[] = []
      watch.stdout?.on('data', (chunk: Buffer) =>
        seen.push(...chunk.toString().split('\n').filter(Boolean)),
      )
      await expect.poll(() => seen, patiently).toContain('watching')
      const { stderr } = await env.exec(
        [
          '/usr/bin/python3',
          '-c',
          `import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
for sender in sys.argv[2:]:
    ip = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 24, 1, 0, 64, 253, 0,
                     socket.inet_aton(sender), socket.inet_aton(sys.argv[1]))
    s.sendto(ip + b'fake', (sys.argv[1], 0))`,
          far.address,
          '198.51.100.7',
          '10.213.200.2',
          await addressOf(env),
        ],
        { mode: 'process' },
      )
      expect(stderr).toBe('')
      // The last one is honest: when it has arrived, the others would have arrived, too.
      await expect.poll(() => seen, patiently).toContain(far.hostAddress)
      expect(seen).toEqual(['watching', far.hostAddress])
    } finally {
      watch.kill('SIGKILL')
    }
  })

  describe('the table of connections of the host', () => {
    /** Its entries that belong to this environment, or to an earlier one with the same address. */
    const entriesOf = (address: string) =>
      readFileSync('/proc/net/nf_conntrack', 'utf8')
        .split('\n')
        .filter((line) => line.includes(` src=${address} `)).length

    /** How many entries ten thousand datagrams to different ports make. */
    const flood = async (env: Environment, from: number) => {
      const script = `
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for port in range(${from}, ${from + 10_000}): s.sendto(b'x', (sys.argv[1], port))`
      const words = ['/usr/bin/python3', '-c', script, far.address]
      const before = entriesOf(await addressOf(env))
      expect((await env.exec(words, { mode: 'process' })).stderr).toBe('')
      return entriesOf(await addressOf(env)) - before
    }
    const most = 4096

    beforeEach((ctx) => {
      if (!existsSync('/proc/net/nf_conntrack')) ctx.skip('no CONFIG_NF_CONNTRACK_PROCFS')
    })

    test('cannot be filled by one environment or its fork, and neighbours get their share', async () => {
      const [env, neighbour] = [await fp.create({ net: 'nat' }), await fp.create({ net: 'nat' })]
      expect(await flood(env, 10_000)).toBeLessThanOrEqual(most)
      expect(await ask(neighbour, far.address, far.port, 5)).toBe(far.hostAddress)
      const [fork] = await neighbour.fork(1)
      expect(await flood(fork as Environment, 20_000)).toBeLessThanOrEqual(most)
    })

    test('has no entries of a removed environment', async () => {
      const env = await fp.create({ net: 'nat' })
      const address = await addressOf(env)
      await flood(env, 40_000)
      expect(entriesOf(address)).toBeGreaterThan(100)
      await env.remove()
      expect(entriesOf(address)).toBe(0)
    })

    test('cannot be filled by an environment that runs under the rules of an earlier version', async () => {
      const netAllow = [`${far.hostAddress}/32`]
      const env = await fp.create({ net: 'nat', netAllow })
      const table = `ip forkpoint_${home.key}`
      const chains = ['arriving', 'output', 'rates_up', 'rates_down'].map((name) => `chain ${name}`)
      const sets = ['held', 'moving', 'connections'].map((name) => `set ${name}`)
      const maps = ['uplinks', 'downlinks', 'outgoing', 'incoming'].map((name) => `map ${name}`)
      const later = [...chains, ...sets, ...maps]
      const earlier = [
        ...['prerouting', 'forward'].map((name) => `flush chain ${table} ${name}`),
        ...later.map((each) => `delete ${each.replace(' ', ` ${table} `)}`),
      ]
      execFileSync('nft', ['-f', '-'], { input: `${earlier.join('\n')}\n` })
      rmSync(join(home.path, 'data/nat-rules'), { force: true })
      await home.open()
      expect(await ask(env, far.hostAddress, port, 5)).toBe('the host')
      expect(await ask(env, far.address, far.port, 5)).toBe(far.hostAddress)
      expect(await flood(env, 30_000)).toBeLessThanOrEqual(most)
      expect(
        execFileSync('nft', ['list', 'table', 'ip', `forkpoint_${home.key}`])
          .toString()
          .match(/masquerade/g),
      ).toHaveLength(1)
    })
  })

  test('names are resolved by servers that can be reached from inside', async () => {
    const env = await fp.create({ net: 'nat' })
    const { stdout } = await env.exec('cat /etc/resolv.conf')
    expect(stdout).not.toMatch(/nameserver\s+127\./)
  })

  test('an exhausted address pool is reported, and nothing is left half-made', async () => {
    const tight = await home.open({ 'net.pool': '10.214.0.0/29' })
    await tight.create({ net: 'nat' })
    await tight.create({ net: 'nat' })
    await expect(tight.create({ net: 'nat', name: 'third' })).rejects.toMatchObject({
      code: 'resource',
    })
    expect((await fp.list()).length).toBe(2)
  })

  describe('an environment that lost its link and rules with its processes', () => {
    /** What a reboot takes away. */
    async function lose(env: Environment): Promise<void> {
      process.kill(agentPid(home, env), 'SIGKILL')
      await expect.poll(async () => (await env.info()).status, patiently).toBe('dead')
      const [link] = remainsOf(home).interfaces
      if (link !== undefined) spawnSync('ip', ['link', 'delete', link])
      for (const family of ['ip', 'ip6']) {
        execFileSync('nft', ['delete', 'table', family, `forkpoint_${home.key}`])
      }
    }

    test('comes back behind the rules, with what it may reach and its own address', async () => {
      const netAllow = [`${far.hostAddress}/32`]
      const env = await fp.create({ net: 'nat', netAllow })
      const kept = await env.snapshot()
      await lose(env)
      const neighbour = await fp.create({ net: 'nat' })
      await env.resume()
      expect((await env.info()).head).toBe(kept.id)
      expect(await addressOf(env)).not.toBe(await addressOf(neighbour))
      expect(await ask(env, await gatewayOf(env), port)).toContain('no:')
      expect(await ask(env, far.hostAddress, port, 5)).toBe('the host')
      expect(await ask(env, far.address, far.port, 5)).toBe(far.hostAddress)
    })

    test('comes back behind the rules if it is the first one', async () => {
      const env = await fp.create({ net: 'nat' })
      await env.snapshot()
      await lose(env)
      await env.resume()
      expect(await ask(env, far.hostAddress, port)).toContain('no:')
      expect(await ask(env, far.address, far.port, 5)).toBe(far.hostAddress)
    })

    test('keeps its address reserved until it is back', async () => {
      const tight = await home.open({ 'net.pool': '10.214.0.0/29' })
      const env = await tight.create({ net: 'nat' })
      await env.snapshot()
      await lose(env)
      await tight.create({ net: 'nat' })
      await expect(tight.create({ net: 'nat' })).rejects.toMatchObject({ code: 'resource' })
      await env.resume()
      expect(await addressOf(env)).toMatch(/^10\.214\.0\./)
    })
  })

  test('is restored to a snapshot of files with the same address', async () => {
    const env = await fp.create({ net: 'nat' })
    const address = await addressOf(env)
    const files = await env.snapshot({ mode: 'filesystem' })
    await env.restore(files)
    expect(await addressOf(env)).toBe(address)
    expect(await ask(env, far.address, far.port, 5)).toBe(far.hostAddress)
  })

  test('removing an environment removes its interfaces, rules and permissions', async () => {
    const bystander = await fp.create()
    const env = await fp.create({ net: 'nat', netAllow: ['192.0.2.0/24', '192.0.2.77'] })
    const killed = await fp.create({ net: 'nat', netAllow: ['198.51.100.0/24'] })
    expect(remainsOf(home).interfaces.length).toBe(2)
    process.kill(agentPid(home, killed), 'SIGKILL')
    await env.remove()
    await killed.remove()
    expect(remainsOf(home).interfaces).toEqual([])
    const set = ['list', 'set', 'ip', `forkpoint_${home.key}`, 'allowed']
    expect(execFileSync('nft', set, { encoding: 'utf8' })).not.toContain('elements')
    await bystander.remove()
    await expectNothing(home)
  })
})
