import { execFileSync } from 'node:child_process'
import { afterAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { nativeProgram } from '../../src/linux/native-program.ts'
import { systemCall } from '../support/system-call.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('system-calls')
afterAll(() => home[Symbol.asyncDispose]())
const fp = await home.open()
const env = await fp.create()

const [stream, datagram, raw, packets] = [1, 2, 3, 5]

const trying = `
import errno, socket, sys
for words in sys.argv[1:]:
    family, kind, protocol = map(int, words.split())
    try:
        socket.socket(family, kind, protocol).close()
        print('made')
    except OSError as error:
        print(errno.errorcode[error.errno])
`

async function sockets(
  of: Environment,
  wanted: readonly (readonly [family: number, kind: number, protocol: number])[],
): Promise<string[]> {
  const words = ['/usr/bin/python3', '-c', trying, ...wanted.map((one) => one.join(' '))]
  const { stdout, stderr } = await of.exec(words, { mode: 'process' })
  return stderr ? [stderr] : stdout.trim().split('\n')
}

describe('sockets', () => {
  const inUse = [
    ...[1, 2, 10].map((family) => [family, stream, 0] as const),
    ...[1, 2, 10].map((family) => [family, datagram, 0] as const),
    ...([
      [2, stream, 6],
      [2, datagram, 17],
      [2, raw, 253],
      [16, raw, 0],
      [17, raw, 3],
    ] as const),
  ]

  test('programs get Unix, internet, interface and packet sockets', async () => {
    expect(await sockets(env, inUse)).toEqual(inUse.map(() => 'made'))
  })

  test('no other family exists, not even in a fork', async () => {
    const families = Array.from({ length: 64 }, (_, family) => family).filter(
      (family) => ![1, 2, 10, 16, 17].includes(family),
    )
    const wanted = families.flatMap((family) =>
      [stream, datagram, raw, packets].map((kind) => [family, kind, 0] as const),
    )
    const all = wanted.map(() => 'EAFNOSUPPORT')
    expect(await sockets(env, wanted)).toEqual(all)
    const [fork] = await env.fork(1)
    expect(await sockets(fork as Environment, wanted)).toEqual(all)
    expect(await systemCall(env, 53, 40, stream, 0)).toBe('EAFNOSUPPORT')
  })

  test('a family cannot hide behind bits that the kernel ignores', async () => {
    expect(await systemCall(env, 41, 40 + 2 ** 32, stream, 0)).toBe('EAFNOSUPPORT')
  })

  test('netlink is for routes only', async () => {
    const protocols = Array.from({ length: 32 }, (_, protocol) => protocol).slice(1)
    const wanted = protocols.map((protocol) => [16, raw, protocol] as const)
    expect(await sockets(env, wanted)).toEqual(protocols.map(() => 'EPROTONOSUPPORT'))
    expect((await env.exec('ip -br addr show lo; ss -lnt | head -1')).stdout).toMatch(
      /^lo .*\nState/,
    )
  })

  test('internet sockets are limited to what can be branched', async () => {
    const [dccp, sctp, l2tp, mptcp, smc] = [33, 132, 115, 262, 256]
    const wanted = [
      ...([
        [2, stream, sctp],
        [2, stream, mptcp],
        [10, stream, smc],
        [2, datagram, l2tp],
      ] as const),
      ...([
        [2, 6, dccp],
        [2, packets, 0],
      ] as const),
    ]
    expect(await sockets(env, wanted)).toEqual([
      ...Array(4).fill('EPROTONOSUPPORT'),
      ...Array(2).fill('ESOCKTNOSUPPORT'),
    ])
  })
})

test('packet rings, whose memory nobody counts, are refused', async () => {
  const script = `
import errno, socket, struct
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
for option in (5, 13, 18):
    try:
        s.setsockopt(263, option, struct.pack('IIII', 1 << 18, 256, 2048, 256 * 128))
        print('done')
    except OSError as error:
        print(errno.errorcode[error.errno])
s.setsockopt(263, 8, 1)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
`
  const { stdout, stderr } = await env.exec(['/usr/bin/python3', '-c', script], { mode: 'process' })
  expect([stdout, stderr]).toEqual(['ENOPROTOOPT\n'.repeat(3), ''])
})

describe('what no cell can have to itself', () => {
  test.each([
    ['asynchronous I/O, which is counted for the whole machine', 206, 'ENOSYS'],
    ['secret memory', 447, 'ENOSYS'],
    ['what the host has read', 451, 'ENOSYS'],
    ['mounts', 165, 'EPERM'],
    ['unmounting', 166, 'EPERM'],
    ['another root', 155, 'EPERM'],
    ['opening file systems', 430, 'EPERM'],
    ['copies of mounts', 428, 'EPERM'],
    ['moving mounts', 429, 'EPERM'],
    ['changing mounts', 442, 'EPERM'],
    ['quotas', 443, 'EPERM'],
    ['watching file systems', 301, 'EPERM'],
    ['comparing processes', 312, 'EPERM'],
    ['keys', 250, 'EPERM'],
    ['a call that does not exist yet', 470, 'ENOSYS'],
    ['a call that will never exist', 4000, 'ENOSYS'],
  ])('%s', async (_, number, answer) => {
    expect(await systemCall(env, number)).toBe(answer)
  })

  test.each(
    ['mount', 'cgroup', 'UTS', 'IPC', 'user', 'PID', 'network', 'time'].entries().toArray(),
  )('its own namespace, number %i: %s', async (index) => {
    const flags = [
      0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000,
      0x80,
    ]
    expect(await systemCall(env, 'unshare', flags[index] ?? 0)).toBe('EPERM')
  })
})

test('nobody can type into a terminal in the name of its user', async () => {
  const script = `
import errno, fcntl, os, pty
_, end = pty.openpty()
for request in (0x5412, 0x541C, 0x5423):
    try:
        fcntl.ioctl(end, request, b'\\0\\0\\0\\0')
        print('done')
    except OSError as error:
        print(errno.errorcode[error.errno])
print(os.ttyname(end)[:8])
`
  const { stdout } = await env.exec(['/usr/bin/python3', '-c', script], { mode: 'process' })
  expect(stdout).toBe('EPERM\nEPERM\nEPERM\n/dev/pts\n')
})

test('debuggers can run programs without a random layout, but risky personalities are refused', async () => {
  expect((await env.exec('setarch -R echo fixed; linux32 uname -m')).stdout).toBe('fixed\ni686\n')
  const [zeroPage, readImpliesExecute] = [0x0010_0000, 0x0040_0000]
  expect(await systemCall(env, 135, zeroPage)).toBe('EPERM')
  expect(await systemCall(env, 135, readImpliesExecute)).toBe('EPERM')
})

test('the filter can be read as it is installed', () => {
  const bytes = execFileSync(nativeProgram('cell'), ['filter'])
  expect(bytes.length % 8).toBe(0)
  expect(bytes.readUInt16LE(bytes.length - 8)).toBe(0x06)
})
