import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, expect, test } from 'vitest'
import { startDaemon } from '../../src/serve.ts'
import { failureOf } from '../support/failure-of.ts'
import { TestHome } from '../support/test-home.ts'
import { selfSigned } from '../support/through-daemon.ts'
import { DaemonProcess } from './support/daemon-process.ts'

const files = mkdtempSync(join(tmpdir(), 'fp-listening-'))
const home = new TestHome('listening')
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  rmSync(files, { recursive: true, force: true })
})

/** The fingerprint of the certificate that a server shows. */
function certificateOf(url: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const { hostname: host, port } = new URL(url)
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false })
  socket.once('secureConnect', () => resolve(socket.getPeerCertificate().fingerprint256))
  socket.once('error', reject)
  return promise.finally(() => socket.destroy())
}

test('a new certificate is used as soon as its files change', async () => {
  const tls = selfSigned(files)
  await using served = await startDaemon({
    open: { settings: { home: home.path, log: 'error' } },
    socket: join(files, 'socket'),
    listen: { host: '127.0.0.1', port: 0 },
    tls,
    onStop: () => {},
  })
  const url = served.addresses[1] ?? ''
  const before = await certificateOf(url)
  selfSigned(files)
  await expect.poll(() => certificateOf(url)).not.toBe(before)
})

test('two daemons cannot have the same socket, and a second home does not disturb the first', async () => {
  const open = { settings: { home: home.path, log: 'error' } } as const
  const socket = join(files, 'socket')
  await using _first = await startDaemon({ open, socket, onStop: () => {} })
  const second = startDaemon({ open, socket, onStop: () => {} })
  expect(await failureOf(second)).toMatchObject({ code: 'conflict' })
  await using _beside = await startDaemon({ open, socket: `${socket}-2`, onStop: () => {} })
})

test.each([
  ['without a certificate', { listen: { host: '0.0.0.0', port: 0 } }, 'can be reached from other'],
  [
    'with one that cannot be read',
    { listen: { host: '127.0.0.1', port: 0 }, tls: { cert: '/none', key: '/none' } },
    'cannot use the certificate /none',
  ],
])('an address %s is refused before a socket that is taken', async (_, options, message) => {
  const open = { settings: { home: home.path, log: 'error' } } as const
  const socket = join(files, 'socket')
  await using _first = await startDaemon({ open, socket, onStop: () => {} })
  const second = startDaemon({ open, socket, onStop: () => {}, ...options })
  expect(await failureOf(second)).toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining(message),
  })
})

test('a daemon that is asked to end answers what is under way first', async () => {
  await using daemon = new DaemonProcess()
  await daemon.start()
  const fp = await daemon.connect()
  const env = await fp.create()
  const words = ['bash', '-c', 'touch /tmp/begun; sleep 1']
  await env.spawn(words, { mode: 'process' })
  await expect
    .poll(() => env.files.list('/tmp'))
    .toContainEqual(expect.objectContaining({ name: 'begun' }))
  const taken = env.snapshot({ name: 'last' })
  await expect.poll(async () => (await env.log()).map(({ kind }) => kind)).toContain('snapshot')
  daemon.terminate()
  expect((await taken).name).toBe('last')
  await daemon.ended()
  await daemon.start()
  expect((await fp.list()).map(({ id }) => id)).toEqual([env.id])
  await env.remove()
})
