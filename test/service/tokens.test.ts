import { once } from 'node:events'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type Environment, Forkpoint, NotFoundError, PermissionError } from '../../src/index.ts'
import { scopes } from '../../src/model/values/scopes.ts'
import { failureOf } from '../support/failure-of.ts'
import { type ServedHome, serveHome } from './support/served-home.ts'

const home = await serveHome('tokens')
afterAll(() => home[Symbol.asyncDispose]())

const mine = await home.fp.create({ name: 'mine', labels: { tenant: 'a' } })
const theirs = await home.fp.create({ name: 'theirs', labels: { tenant: 'b' } })
const theirSnapshot = await theirs.snapshot({ name: 'their-snapshot' })

interface RouteOf {
  readonly method: string
  readonly path: string
  readonly scope: string
}

/** Every route that the daemon describes. */
async function everyRoute(): Promise<RouteOf[]> {
  const { paths } = (await (await home.fetch('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { description: string }>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description }]) => ({
      method: method.toUpperCase(),
      path,
      scope: description.replace('needs the scope ', ''),
    })),
  )
}

/** The path for something of somebody else. */
function pathOfTheirs(path: string): string {
  const object = path.startsWith('/v1/snapshots') ? theirSnapshot.id : theirs.id
  return path.replace(/\{(id|of|reference)\}/, object).replaceAll(/\{\w+\}/g, 'main')
}

const all = await everyRoute()

/** What the daemon answers to a request with this token. */
async function statusOf({ method, path }: RouteOf, token?: string): Promise<number> {
  const body = method === 'POST' || method === 'PUT' ? { raw: '{}' } : {}
  const call = token === undefined ? { method, ...body } : { method, token, ...body }
  const response = await home.fetch(pathOfTheirs(path), call)
  await response.body?.cancel()
  return response.status
}

test('the description has every operation and every scope', () => {
  expect(all.length).toBeGreaterThan(55)
  expect(new Set(all.map(({ scope }) => scope))).toEqual(new Set(scopes))
})

describe('every route refuses', () => {
  test('a request without a token, with a wrong one and with an expired one', async () => {
    const { id, token } = await home.fp.tokens.create({ scope: 'admin', expiresMs: 1 })
    const good = await home.token({ scope: 'admin' })
    const wrong = `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`
    await expect.poll(() => home.fetch('/v1/tree', { token }).then((r) => r.status)).toBe(401)
    for (const route of all) {
      const statuses = await Promise.all([
        statusOf(route),
        statusOf(route, token),
        statusOf(route, wrong),
      ])
      expect(statuses, `${route.method} ${route.path}`).toEqual([401, 401, 401])
    }
    await home.fp.tokens.remove(id)
  })

  test('a token with a smaller scope', async () => {
    for (const [index, scope] of scopes.entries()) {
      const token = await home.token({ scope })
      const larger = scopes.slice(index + 1)
      for (const route of all.filter((each) => larger.some((name) => name === each.scope))) {
        expect(await statusOf(route, token), `${scope}: ${route.method} ${route.path}`).toBe(403)
      }
    }
  })

  test('a token with another label, as if there were nothing', async () => {
    const token = await home.token({ scope: 'admin', labels: { tenant: 'a' } })
    const named = all.filter(({ path }) => /\{(id|of|reference)\}/.test(path))
    for (const route of named.filter(({ path }) => !path.startsWith('/v1/tokens'))) {
      // What is not acceptable, or not a WebSocket, is refused before anything is looked for.
      const status = await statusOf(route, token)
      expect([400, 404, 426], `${route.method} ${route.path}: ${status}`).toContain(status)
    }
    expect((await theirs.info()).status).toBe('running')
  })
})

describe('a token with a label', () => {
  test('sees and makes only what carries it', async () => {
    const token = await home.token({ labels: { tenant: 'a' } })
    await using fp = await Forkpoint.connect(home.url, { token })
    expect((await fp.list()).map(({ id }) => id)).toEqual([mine.id])
    expect(await fp.snapshots()).toEqual([])
    expect(await failureOf(fp.get('theirs'))).toBeInstanceOf(NotFoundError)
    expect(await failureOf(fp.snapshot('their-snapshot'))).toBeInstanceOf(NotFoundError)
    expect(await failureOf(fp.usage())).toBeInstanceOf(PermissionError)
    expect(await failureOf(fp.create({ from: 'dir:/etc' }))).toBeInstanceOf(PermissionError)
    const env = await fp.get('mine')
    expect(await failureOf(env.restore('their-snapshot'))).toBeInstanceOf(NotFoundError)
    const [fork] = await env.fork(1, { labels: { tenant: 'b' } })
    expect((await fork?.info())?.labels).toEqual({ tenant: 'a' })
    expect((await fp.tree()).length).toBe(1)
    expect((await env.exec('echo hi')).stdout).toBe('hi\n')
    await fork?.remove()
  })
})

/** A WebSocket and a stream of events. */
async function openBoth({ url, fetch }: ServedHome, { id }: Environment, token: string) {
  const headers = { authorization: `Bearer ${token}` }
  const address = `${url.replace('http', 'ws')}/v1/environments/${id}/connect`
  const socket = new WebSocket(address, { headers })
  await once(socket, 'open')
  const events = await fetch('/v1/events', { token })
  const ended = events.text().catch(() => 'cut')
  return { socket, ended, isOver: Promise.all([once(socket, 'close'), ended]) }
}

describe('tokens', () => {
  test('change without a restart: another secret, and none', async () => {
    const { token: first } = await home.fp.tokens.create({ name: 'ci', form: 'e2b' })
    expect(first).toMatch(/^e2b_[0-9a-f]{40}$/)
    const status = (token: string) => home.fetch('/v1/tree', { token }).then((r) => r.status)
    expect(await status(first)).toBe(200)
    const { token: second } = await home.fp.tokens.rotate('ci')
    expect([await status(first), await status(second)]).toEqual([401, 200])
    await home.fp.tokens.remove('ci')
    expect(await status(second)).toBe(401)
  })

  describe.each(['rotate', 'remove'] as const)('%s', (change) => {
    test('cuts WebSockets and streams that were opened with one at once, and no others', async () => {
      // A daemon that never looks by itself.
      vi.useFakeTimers({ toFake: ['setInterval'] })
      await using fresh = await serveHome('tokens-at-once').finally(() => vi.useRealTimers())
      const { id, token } = await fresh.fp.tokens.create({ scope: 'exec' })
      const env = await fresh.fp.create()
      const cut = await openBoth(fresh, env, token)
      const other = await openBoth(fresh, env, await fresh.token({ scope: 'exec' }))
      await fresh.fp.tokens[change](id)
      await cut.isOver
      expect(other.socket.readyState).toBe(WebSocket.OPEN)
      expect(await Promise.race([other.ended, Promise.resolve('open')])).toBe('open')
      other.socket.terminate()
      await env.remove()
    })

    test('by another process cuts them, too', async () => {
      const { id, token } = await home.fp.tokens.create({ scope: 'exec' })
      const cut = await openBoth(home, mine, token)
      await using beside = await Forkpoint.open({ settings: { home: home.path } })
      await beside.tokens[change](id)
      await cut.isOver
    })
  })

  test('are typed errors for our own client', async () => {
    const token = await home.token({ scope: 'read' })
    await using fp = await Forkpoint.connect(home.url, { token })
    expect(await failureOf(fp.create())).toBeInstanceOf(PermissionError)
    await using nobody = await Forkpoint.connect(home.url)
    expect(await failureOf(nobody.list())).toBeInstanceOf(PermissionError)
  })
})
