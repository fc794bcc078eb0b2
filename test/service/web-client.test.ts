import { afterAll, describe, expect, test } from 'vitest'
import { failureOf } from '../support/failure-of.ts'
import { DaemonProcess } from './support/daemon-process.ts'
import { serveHome } from './support/served-home.ts'
import { bundled, loadWebClient } from './support/web-realm.ts'

const web = await loadWebClient()
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

test('forkpoint/client has no import of Node', async () => {
  expect(await bundled()).not.toMatch(/["']node:/)
})

test('an address that fetch cannot reach is refused', () => {
  expect(() => web.connect('unix:///run/forkpoint.sock')).toThrow('not an address for fetch')
})

describe('from a browser', async () => {
  const home = await serveHome('web')
  afterAll(() => home[Symbol.asyncDispose]())
  const client = web.connect(home.url, { token: await home.token({ scope: 'branch' }) })

  test('creates, runs, snapshots, forks, restores and removes', async () => {
    const events = client.events({ after: 0 })
    const env = await client.call('environment.create', { name: 'page', from: { kind: 'host' } })
    expect((await events.next()).value).toMatchObject({ kind: 'create', environment: env.id })

    const ran = await client.exec('page', 'cat; echo no >&2; (exit 3)', { stdin: 'yes' })
    expect(ran).toMatchObject({ exitCode: 3, stdout: 'yes', stderr: 'no\n' })
    await client.writeFile(env.id, '/tmp/made/here', 'ä\0z', { makeParents: true })
    expect(text(await client.readFile(env.id, '/tmp/made/here'))).toBe('ä\0z')

    const taken = await client.call('environment.snapshot', { id: env.id, name: 'ready' })
    await client.exec(env.id, 'rm -r /tmp/made')
    const [fork] = await client.call('snapshot.fork', { id: taken.id, count: 1 })
    if (fork === undefined || 'error' in fork) throw new Error('the fork failed')
    expect(await client.exec(fork.id, 'ls /tmp/made')).toMatchObject({ stdout: 'here\n' })
    await client.call('environment.restore', { id: env.id, to: taken.id })
    expect(await client.exec(env.id, 'ls /tmp/made')).toMatchObject({ stdout: 'here\n' })

    for (const { id } of [env, fork]) await client.call('environment.remove', { id, force: true })
    expect(await client.call('environment.list', {})).toHaveLength(0)
    await events.return()
  })

  test('gets the errors of the daemon, with their types', async () => {
    const missing = await failureOf(client.call('environment.get', { reference: 'nobody' }))
    expect(missing).toBeInstanceOf(web.NotFoundError)
    const stranger = web.connect(home.url, { token: 'wrong' })
    expect(await failureOf(stranger.call('tree', {}))).toBeInstanceOf(web.PermissionError)
    const lost = web.connect('http://127.0.0.1:1')
    expect(await failureOf(lost.call('tree', {}))).toMatchObject({ code: 'connection' })
  })

  test('closing the client ends its streams', async () => {
    const closing = web.connect(home.url, { token: await home.token({ scope: 'read' }) })
    const next = closing.events().next()
    closing.close()
    expect(await next).toMatchObject({ done: true })
  })
})

test('output and events continue after the daemon was killed, without a missing or doubled byte', async () => {
  await using daemon = new DaemonProcess()
  const [, url = ''] = await daemon.start({}, '--listen', '127.0.0.1:0')
  const fp = await daemon.connect()
  const env = await fp.create()
  const { token } = await fp.tokens.create({ scope: 'exec' })
  const client = web.connect(url, { token })
  const events = client.events({ after: 0 })
  await events.next()
  const words = 'for i in $(seq 1 100); do echo line $i; sleep 0.02; done'
  let seen = ''
  let end: unknown
  for await (const part of client.stream(env.id, words)) {
    if (part.type === 'exit') end = part
    else seen += text(part.data)
    if (seen.endsWith('line 20\n')) {
      await daemon.kill()
      await daemon.start({}, '--listen', new URL(url).host)
    }
  }
  expect(end).toMatchObject({ exitCode: 0 })
  expect(seen).toBe(Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`).join(''))
  await env.pause()
  expect((await events.next()).value).toMatchObject({ kind: 'pause' })
  client.close()
  await env.remove()
})
