import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { serveHome } from '../service/support/served-home.ts'

const built = resolve(import.meta.dirname, '../../dist/web')
/** What the issue allows for the first load, packed, without a terminal. */
const mostBytes = 400 * 1000

test('the first load is small: the page, its script and its style, packed', () => {
  const page = readFileSync(join(built, 'index.html'), 'utf8')
  const names = Array.from(page.matchAll(/(?:src|href)="\/([^"]+)"/g), ([, name = '']) => name)
  expect(names.some((name) => name.endsWith('.js'))).toBe(true)
  const bytes = ['index.html', ...names].map((name) => gzipSync(readFileSync(join(built, name))))
  const sum = bytes.reduce((total, { length }) => total + length, 0)
  expect(sum).toBeGreaterThan(10_000)
  expect(sum).toBeLessThan(mostBytes)
})

test('the page loads nothing from elsewhere', () => {
  const page = readFileSync(join(built, 'index.html'), 'utf8')
  expect(page).not.toMatch(/(?:src|href)="(?!\/)/)
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)/)
})

describe('the daemon', async () => {
  const home = await serveHome('pages')
  afterAll(() => home[Symbol.asyncDispose]())
  const asset = readdirSync(join(built, 'assets')).find((name) => name.endsWith('.js')) ?? ''

  test('serves the page with a strict policy, wherever a person opens it', async () => {
    for (const path of ['/', '/node/e123/files', '/compare?of=a,b']) {
      const answer = await home.fetch(path, { headers: { accept: 'text/html' } })
      expect(answer.status, path).toBe(200)
      const policy = answer.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toMatch(/unsafe|https?:/)
      expect(answer.headers.get('cache-control')).toBe('no-cache')
      expect(answer.headers.get('set-cookie')).toBeNull()
      expect(await answer.text()).toContain('<div id="root">')
    }
  })

  test('assets may be kept forever, and are sent packed to whoever wants that', async () => {
    const answer = await home.fetch(`/assets/${asset}`)
    expect(answer.headers.get('cache-control')).toContain('immutable')
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect((await answer.arrayBuffer()).byteLength).toBe(
      statSync(join(built, 'assets', asset)).size,
    )
    const plain = await home.fetch(`/assets/${asset}`, {
      headers: { 'accept-encoding': 'identity' },
    })
    expect(plain.headers.get('content-encoding')).toBeNull()
  })

  test('serves no other file', async () => {
    const names = ['..%2f..%2fpackage.json', '.fresh', 'index.js', `${asset}%00`, asset.slice(1)]
    for (const name of names) expect((await home.fetch(`/assets/${name}`)).status, name).toBe(404)
  })

  test('programs that ask for an unknown route are told so as before', async () => {
    const answer = await home.fetch('/v1/nothing', { headers: { accept: 'text/html' } })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } })
  })

  test('a link grants what it was made for, once; only an admin makes one', async () => {
    const [admin, branch] = [await home.token({ scope: 'admin' }), await home.token({})]
    const ask = (token: string, body: object) => home.fetch('/v1/dashboard/links', { token, body })
    expect((await ask(branch, {})).status).toBe(403)
    const made = await ask(admin, { scope: 'read', labels: { team: 'a' }, expiresMs: 60_000 })
    const { code, addresses } = (await made.json()) as { code: string; addresses: string[] }
    expect(addresses).toEqual([home.url])
    const login = () => home.fetch('/v1/dashboard/login', { body: { code } })
    const answer = await login()
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const session = (await answer.json()) as { token: string; expiresAt: number }
    expect(session).toMatchObject({ scopes: ['read'], labels: { team: 'a' } })
    expect(session.expiresAt - Date.now()).toBeLessThanOrEqual(60_000)
    expect((await login()).status).toBe(401)
    const self = await home.fetch('/v1/principal', { token: session.token })
    expect(await self.json()).toMatchObject({ scopes: ['read'], labels: { team: 'a' } })
    const out = { method: 'POST', token: session.token }
    expect((await home.fetch('/v1/dashboard/logout', out)).status).toBe(204)
    expect((await home.fetch('/v1/principal', { token: session.token })).status).toBe(401)
  })

  test('a guessed code logs nobody in', async () => {
    for (const code of ['', 'x'.repeat(32), '../', 'a'.repeat(1000)]) {
      const { status } = await home.fetch('/v1/dashboard/login', { body: { code } })
      expect([400, 401], code).toContain(status)
    }
  })
})
