import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { serveHome } from './support/served-home.ts'

const home = await serveHome('watching')
afterAll(() => home[Symbol.asyncDispose]())

const env = await home.fp.create({ name: 'web' })
await env.terminal('main').write('echo "seen $((40 + 2))"\n')
const token = await home.token({ scope: 'read' })
const below = `/v1/environments/${env.id}`

interface Watching {
  readonly socket: WebSocket
  /** what was shown so far */
  readonly text: () => string
}

/** A WebSocket of the read-only token, once it is open. */
async function watch(terminal: string): Promise<Watching> {
  const url = `${home.url.replace('http', 'ws')}${below}/terminals/${terminal}/watch`
  const socket = new WebSocket(url, ['forkpoint', `bearer.${token}`])
  let text = ''
  socket.on('message', (data) => {
    text += String(data)
  })
  await once(socket, 'open')
  return { socket, text: () => text }
}

describe('a token that may only read', () => {
  test('sees the screen of a terminal and what comes later, after its size', async () => {
    const { socket, text } = await watch('main')
    await expect.poll(text).toContain('seen 42')
    expect(text()).toMatch(/^\{"cols":\d+,"rows":\d+\}/)
    await env.terminal('main').write('echo "later $((40 + 3))"\n')
    await expect.poll(text).toContain('later 43')
    socket.terminate()
  })

  test('is cut off when it types, and nothing of that arrives', async () => {
    const { socket } = await watch('main')
    const closed = once(socket, 'close')
    socket.send(Buffer.from('touch /root/typed\n'))
    expect((await closed)[0]).toBe(1008)
    const attach = new WebSocket(`${home.url.replace('http', 'ws')}${below}/terminals/main`, [
      'forkpoint',
      `bearer.${token}`,
    ])
    const [failure] = await once(attach, 'error')
    expect(String(failure)).toContain('403')
    for (const [route, body] of [
      ['input', { data: 'touch /root/typed\n' }],
      ['resize', { cols: 10, rows: 10 }],
    ] as const) {
      const { status } = await home.fetch(`${below}/terminals/main/${route}`, { token, body })
      expect(status, route).toBe(403)
    }
    const close = { method: 'DELETE', token }
    expect((await home.fetch(`${below}/terminals/main`, close)).status).toBe(403)
    const { cols } = await env.terminal('main').screen()
    expect(cols).not.toBe(10)
    expect((await env.files.list('/root')).map(({ name }) => name)).not.toContain('typed')
  })

  test('starts no terminal, and sees none of an environment with other labels', async () => {
    await expect(watch('other')).rejects.toThrow('404')
    const listed = await home.fetch(`${below}/terminals`, { token })
    expect(await listed.json()).toMatchObject([{ name: 'main', running: true }])
    const restricted = await home.token({ scope: 'read', labels: { tenant: 'b' } })
    const answer = await home.fetch(`${below}/terminals`, { token: restricted })
    expect(answer.status).toBe(404)
  })

  test('neither keeps an environment awake nor wakes it, which whoever uses it does', async () => {
    await env.terminal('main').write('while sleep 0.1; do date +%N; done\n')
    await env.setPolicy({ wake: 'always', idle: { afterMs: 2000, action: 'pause' } })
    const { socket, text } = await watch('main')
    await expect.poll(async () => (await env.info()).status).toBe('paused')
    expect(text().length).toBeGreaterThan(0)
    await sleep(200)
    const asReader = await home.fetch(`${below}/terminals`, { token })
    expect(asReader.status).toBe(409)
    expect((await env.info()).status).toBe('paused')
    await home.fetch(`${below}/terminals`, { token: await home.token({ scope: 'exec' }) })
    expect((await env.info()).status).toBe('running')
    socket.terminate()
  })
})
