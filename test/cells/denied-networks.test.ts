// Networks that environments with `nat` are denied, and the exceptions from them.
import { execFileSync, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { OutsideNetwork, whyNoNetworks } from '../support/outside-network.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'
import { dialogue } from '../support/workloads/dialogue.ts'
import { startFarServer } from '../undisturbed/support/far-server.ts'

const home = new TestHome('denied-networks')
const outside = whyNoNetworks === null ? await OutsideNetwork.start() : null
const far = outside as OutsideNetwork
/** Another address of that computer. */
const other = `198.51.100.${randomInt(1, 255)}`
outside?.alsoAt(other)
const server = outside && (await startFarServer(outside))
const fp = await home.open()
const everywhere = '0.0.0.0/0'

afterAll(async () => {
  await home.removeAll()
  await server?.[Symbol.asyncDispose]()
  await outside?.[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})
beforeEach((ctx) => {
  if (whyNoNetworks !== null) ctx.skip(whyNoNetworks)
})

/** Which of these addresses answer root inside. */
async function reached(env: Environment, addresses: readonly string[]): Promise<string[]> {
  const script = `
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 1).recv(100)
    print('yes')
except OSError: print('no')`
  const answers = addresses.map(async (address) => {
    const words = ['/usr/bin/python3', '-c', script, address, String(far.port)]
    return (await env.exec(words, { mode: 'process' })).stdout.trim() === 'yes' ? [address] : []
  })
  return (await Promise.all(answers)).flat()
}

/** A busy machine answers late. */
const reaches = async (env: Environment, addresses: string[], expected: string[]) =>
  await expect.poll(() => reached(env, addresses), patiently).toEqual(expected)

const both = () => [far.address, other]

const addressOf = async (env: Environment) =>
  /inet ([\d.]+)/.exec((await env.exec('ip -4 addr show eth0')).stdout)?.[1] ?? ''

/** With the last environment, they are removed. */
const rules = () =>
  spawnSync('nft', ['list', 'table', 'ip', `forkpoint_${home.key}`]).stdout.toString()

test('all are denied but one, in every life and every copy', async () => {
  const netAllowOut = [`${far.address}/32`]
  const bystander = await fp.create({ net: 'nat' })
  const env = await fp.create({ net: 'nat', netDenyOut: [everywhere], netAllowOut })
  const net = { mode: 'nat', allow: [], denyOut: [everywhere], allowOut: netAllowOut }
  expect((await env.info()).net).toEqual(net)
  await reaches(env, both(), [far.address])
  const taken = await env.snapshot()
  const [fork] = await taken.fork(1)
  expect((await fork?.info())?.net).toEqual(net)
  await reaches(fork as Environment, both(), [far.address])
  await env.restore(taken)
  await reaches(env, both(), [far.address])
  await env.pause({ release: true })
  await env.resume()
  await reaches(env, both(), [far.address])
  expect(rules()).toMatch(/chain out_/)
  await Promise.all([env.remove(), fork?.remove()])
  await reaches(bystander, both(), both())
  expect(rules()).toContain('chain forward')
  expect(rules()).not.toMatch(/chain (in|out)_/)
})

/** Sends packets that root makes by itself: as part of no connection, and with flags that no connection has. */
const forging = `
import socket, struct, sys
def total(data):
    words = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while words >> 16: words = (words & 0xffff) + (words >> 16)
    return ~words & 0xffff
source = sys.argv[1]
for target in sys.argv[2:]:
    ends = socket.inet_aton(source) + socket.inet_aton(target)
    for flags in 0x10, 0x03, 0x00:
        head = struct.pack('!HHIIBBHHH', 4000, 9, 7, 7, 0x50, flags, 100, 0, 0)
        check = total(ends + struct.pack('!BBH', 0, 6, 20) + head)
        tcp = head[:16] + struct.pack('!H', check) + head[18:]
        ip = struct.pack('!BBHHHBBH', 0x45, 0, 40, 1, 0, 64, 6, 0) + ends
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        raw.sendto(ip + tcp, (target, 0))
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', (target, 9))
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 253)
    raw.sendto(b'x', (target, 0))
`

/** Prints where packets for the ports above were sent. */
const watching = `
import select, socket
kinds = {socket.socket(socket.AF_INET, socket.SOCK_RAW, kind): kind for kind in (6, 17, 253)}
print('watching', flush=True)
while True:
    for each in select.select(list(kinds), [], [])[0]:
        packet = each.recv(2000)
        if kinds[each] == 253 or packet[22:24] == b'\\0\\x09':
            print(kinds[each], socket.inet_ntoa(packet[16:20]), flush=True)
`

test('no packet that root makes inside gets to a denied address', async () => {
  const env = await fp.create({ net: 'nat', netDenyOut: [`${other}/32`] })
  const watch = far.python(watching)
  try {
    const seen: string[] = []
    if (watch.stdout) {
      createInterface(watch.stdout).on('line', (line) => seen.push(line))
      await expect.poll(() => seen, patiently).toContain('watching')
    }
    // The last ones are allowed: when they have arrived, the others would have arrived, too.
    const words = ['/usr/bin/python3', '-c', forging, await addressOf(env), other, far.address]
    expect((await env.exec(words, { mode: 'process' })).stderr).toBe('')
    await expect.poll(() => seen, patiently).toContain(`253 ${far.address}`)
    await expect.poll(() => seen, patiently).toContain(`17 ${far.address}`)
    await expect.poll(() => seen, patiently).toContain(`6 ${far.address}`)
    expect(seen.filter((line) => line.endsWith(` ${other}`))).toEqual([])
  } finally {
    watch.kill('SIGKILL')
    await once(watch, 'exit')
  }
  await env.remove()
})

const client = `
import socket, sys
ends = {}
for line in sys.stdin:
    word, _, to = line.strip().partition(' ')
    if word == 'say': print(to, flush=True); continue
    try:
        if to not in ends: ends[to] = socket.create_connection((to, 7100), 1 if word == 'try' else 20)
        ends[to].settimeout(20)
        ends[to].sendall(b'line\\n')
        print(ends[to].recv(100).decode().strip(), flush=True)
    except OSError as error:
        ends.pop(to, None)
        print(type(error).__name__, flush=True)
`
const talk = dialogue('talk', '/usr/bin/python3 /root/client.py', (mark) => `say ${mark}`)

test('connections that stay allowed continue when the lists change; the others are cut at once', async () => {
  const env = await fp.create({ net: 'nat' })
  await env.files.write('/root/client.py', client)
  await talk.start(env)
  const line = async (to: string) => await talk.ask(env, `tell ${to}`)
  expect([await line(far.address), await line(other)]).toEqual(['1 line', '1 line'])
  expect(await env.setNet('nat', { denyOut: [`${other}/32`] })).toEqual([
    { address: other, port: 7100 },
  ])
  expect(await line(other)).toBe('ConnectionAbortedError')
  expect(await talk.ask(env, `try ${other}`)).toBe('TimeoutError')
  expect(await line(far.address)).toBe('2 line')
  const allowOut = [`${far.address}/32`, `${other}/32`]
  expect(await env.setNet('nat', { denyOut: [everywhere], allowOut })).toEqual([])
  expect([await line(far.address), await line(other)]).toEqual(['3 line', '1 line'])
  await env.pause()
  expect(await env.setNet('nat', { allowOut: [`${far.address}/32`] })).toEqual([
    { address: other, port: 7100 },
  ])
  await env.resume()
  expect([await line(far.address), await line(other)]).toEqual(['4 line', 'ConnectionAbortedError'])
  expect(await env.setNet('nat', { denyOut: [], allowOut: [] })).toEqual([])
  expect([await line(far.address), await line(other)]).toEqual(['5 line', '1 line'])
  expect((await env.info()).net).toEqual({ mode: 'nat', allow: [] })
  expect(rules()).not.toMatch(/chain (in|out)_/)
  await env.remove()
})

test('a neighbour that is allowed can be reached, and may ask what is denied everything', async () => {
  const denied = await fp.create({ net: 'nat', netDenyOut: [everywhere] })
  const serve = `import socket
s = socket.create_server(('0.0.0.0', 7000))
print('listening', flush=True)
while True:
    c, _ = s.accept(); c.sendall(b'x'); c.close()`
  const words = ['/usr/bin/python3', '-c', serve]
  const serving = await denied.spawn(words, { mode: 'process' })
  for await (const _ of serving.stdout) break
  const neighbour = await addressOf(denied)
  const netAllow = [`${neighbour}/32`]
  const env = await fp.create({ net: 'nat', netAllow, netDenyOut: [everywhere] })
  await reaches(env, [...both(), neighbour], [neighbour])
  await reaches(denied, both(), [])

  // Somebody removes the host's rules: the next environment brings all of them back.
  for (const family of ['ip', 'ip6'])
    execFileSync('nft', ['delete', 'table', family, `forkpoint_${home.key}`])
  const next = await fp.create({ net: 'nat' })
  await reaches(next, both(), both())
  await reaches(env, [...both(), neighbour], [neighbour])
  await reaches(denied, both(), [])
})

test('lists that say nothing, or nothing that is known, are refused', async () => {
  const cidr = ['192.0.2.1']
  await expect(fp.create({ net: 'nat', netAllowOut: cidr })).rejects.toMatchObject({
    code: 'invalid_input',
    remedy: expect.stringContaining('deny 0.0.0.0/0'),
  })
  await expect(fp.create({ net: 'nat', netDenyOut: ['example.com'] })).rejects.toThrow(
    'not an IPv4 network: "example.com"',
  )
  const env = await fp.create()
  await expect(env.setNet('none', { denyOut: cidr })).rejects.toMatchObject({
    code: 'invalid_input',
  })
  await expect(env.setNet('nat', { allowOut: cidr })).rejects.toMatchObject({
    code: 'invalid_input',
  })
})

test('removing all of them leaves nothing', async () => {
  await home.removeAll()
  await expectNothing(home)
})
