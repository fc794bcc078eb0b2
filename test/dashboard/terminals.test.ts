import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { unless } from '../support/evidence.ts'
import { Dashboard, noBrowser } from './support/dashboard.ts'
import { desktop, pageInside } from './support/servers-inside.ts'
import { violations } from './support/violations.ts'

describe('terminals', unless(noBrowser()), async () => {
  const dashboard = await Dashboard.start()
  afterAll(() => dashboard[Symbol.asyncDispose]())
  const { fp } = dashboard
  const env = await fp.create({ name: 'web' })
  await env.terminal('main').write('cd /tmp; X=before; clear; echo "ready $X"\n')
  // The shell of a terminal may take its time to start.
  await vi.waitUntil(
    async () => (await env.terminal('main').screen()).lines.join().includes('ready before'),
    { timeout: 30_000, interval: 200 },
  )
  const [fork] = await env.fork(1, { name: 'try' })
  if (fork === undefined) throw new Error('no fork')
  const page = await dashboard.open()
  await page.goto(`${dashboard.url}/terminals?of=${env.id},${fork.id}`)

  const tile = (of: Page, name: string) =>
    of.getByRole('region', { name: new RegExp(`^${name}: `) })
  const screen = (name: string) => tile(page, name).locator('.xterm-screen')
  const rows = (name: string) => tile(page, name).locator('.xterm-rows')
  const shows = async (name: string, text: string) =>
    await expect.poll(() => rows(name).innerText(), { timeout: 20_000 }).toContain(text)
  const type = async (name: string, text: string) => {
    await screen(name).click()
    await page.keyboard.type(text)
    await page.keyboard.press('Enter')
  }

  test('the screens of forks are identical at the moment of the fork', async () => {
    await shows('web', 'ready before')
    await shows('try', 'ready before')
    await expect
      .poll(async () => (await rows('web').innerText()) === (await rows('try').innerText()))
      .toBe(true)
    expect(await tile(page, 'try').getByRole('heading').innerText()).toBe('try terminal main')
  })

  test('what is typed goes to one, or to all but those that are only watched', async () => {
    await type('try', 'echo "only $((40 + 2))"')
    await shows('try', 'only 42')
    expect(await rows('web').innerText()).not.toContain('only')

    await page.getByRole('button', { name: 'Type into all' }).click()
    await page.getByText('goes to 2 of 2 terminals').waitFor()
    await type('web', 'echo "both $((40 + 3))"')
    await shows('web', 'both 43')
    await shows('try', 'both 43')

    await page.getByRole('button', { name: 'Only watch try' }).click()
    await page.getByText('goes to 1 of 2 terminals').waitFor()
    await type('web', 'echo "web $((40 + 4))"')
    await shows('web', 'web 44')
    await screen('try').click()
    await page.keyboard.type('echo never\n')
    const { lines } = await fork.terminal('main').screen()
    expect(lines.join()).not.toMatch(/web 44|never/)
    await page.getByRole('button', { name: 'Only watch try' }).click()
    await page.getByRole('button', { name: 'Type into one' }).click()
  })

  test('a small screen shows what the large one did', async () => {
    const small = await dashboard.open({ viewport: { width: 1280, height: 420 } })
    await small.goto(`${dashboard.url}/terminals?of=${env.id},${fork.id}`)
    const shown = tile(small, 'web').locator('.xterm-rows')
    await expect.poll(() => shown.innerText()).toContain('web 44')
    expect((await shown.innerText()).trimStart()).toMatch(/^ready before/)
    await small.context().close()
  })

  test('the program inside learns the size of the window', async () => {
    const cols = async () => (await env.terminals()).find(({ name }) => name === 'main')?.cols ?? 0
    await page.setViewportSize({ width: 1000, height: 700 })
    await expect.poll(cols).toBeLessThan(70)
    const before = await cols()
    await page.setViewportSize({ width: 1280, height: 800 })
    await expect.poll(cols).toBeGreaterThan(before)
    await expect.poll(() => rows('web').innerText()).toContain('web 44')
  })

  test('terminals are opened by name and closed', async () => {
    await page.getByRole('button', { name: 'New terminal in web' }).click()
    await page.getByLabel('Name of the terminal').fill('build')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await tile(page, 'web').getByRole('heading', { name: 'web terminal build' }).waitFor()
    await type('web', 'echo "built $((1 + 1))"')
    await shows('web', 'built 2')
    await page.getByRole('button', { name: 'Close web: terminal build' }).click()
    await page.getByRole('button', { name: 'Close it' }).click()
    await tile(page, 'web').getByText('This terminal has ended').waitFor()
    expect(
      (await env.terminals()).filter(({ running }) => running).map(({ name }) => name),
    ).toEqual(['main'])
    await tile(page, 'web').getByRole('button', { name: 'main', exact: true }).click()
    await shows('web', 'web 44')
  })

  test('a page of a port inside is shown, without the origin of the dashboard', async () => {
    await env.spawn(['python3', '-u', '-c', pageInside], { mode: 'process' })
    await tile(page, 'web').getByRole('button', { name: ':8123', exact: true }).click()
    const frame = tile(page, 'web').frameLocator('iframe')
    await frame.getByText('origin null, no storage, style loaded').waitFor()
    const popup = page.waitForEvent('popup')
    await tile(page, 'web').getByRole('link', { name: 'Open in a tab' }).click()
    const opened = await popup
    await opened.getByText('origin null, no storage, style loaded').waitFor()
    const answer = await opened.request.get(opened.url())
    expect(answer.headers()['content-security-policy']).toMatch(/^sandbox allow-scripts/)
    expect(answer.headers()['set-cookie']).toBeUndefined()
    const unknown = await opened.request.get(`${dashboard.url}/open/${'x'.repeat(32)}/`)
    expect([unknown.status(), await unknown.text()]).toEqual([
      404,
      expect.stringContaining('open the port again in the dashboard'),
    ])
    // The page itself may open it, but never run it.
    const path = new URL(opened.url()).pathname
    expect(await page.evaluate(`fetch('${path}').then(({ status }) => status)`)).toBe(404)
    await opened.close()
    await tile(page, 'web').getByRole('button', { name: 'main', exact: true }).click()
  })

  test('a desktop inside is shown: Xvfb, x11vnc and what an X client has drawn', async () => {
    await fork.spawn(desktop('#17694c'), { mode: 'process' })
    await tile(page, 'try').getByRole('button', { name: 'desktop :5901' }).click()
    await tile(page, 'try').locator('canvas').waitFor()
    const canvas = 'document.querySelector("[data-keys=desktop] canvas").getContext("2d")'
    await expect
      .poll(() => page.evaluate(`[...${canvas}.getImageData(5, 5, 1, 1).data].join()`))
      .toBe(`${0x17},${0x69},${0x4c},255`)
    await tile(page, 'try').getByRole('button', { name: 'main', exact: true }).click()
  })

  test('they are there again after a restart of the daemon', async () => {
    const port = new URL(dashboard.url).port
    await dashboard.daemon.kill()
    await tile(page, 'web').getByText('The daemon does not answer').waitFor()
    await dashboard.daemon.start({}, '--listen', `127.0.0.1:${port}`)
    await tile(page, 'web').getByText('The daemon does not answer').waitFor({ state: 'hidden' })
    await shows('web', 'web 44')
    await type('web', 'echo "again $X $((40 + 5))"')
    await shows('web', 'again before 45')
  })

  test('a read-only token sees the live screen, and nothing that it types arrives', async () => {
    const reader = await dashboard.open({}, '--scope', 'read')
    await reader.goto(`${dashboard.url}/terminals?of=${env.id},${fork.id}`)
    const seen = tile(reader, 'web').locator('.xterm-rows')
    await expect.poll(() => seen.innerText()).toContain('again before 45')
    await tile(reader, 'web').locator('.xterm-screen').click()
    await reader.keyboard.type('touch /tmp/typed\n')
    await type('web', 'echo "live $((40 + 6))"')
    await expect.poll(() => seen.innerText()).toContain('live 46')
    expect(await seen.innerText()).not.toContain('touch')
    expect((await env.files.list('/tmp')).map(({ name }) => name)).not.toContain('typed')
    expect(
      await reader.getByRole('button', { name: /Type|New|Close|Only watch|:8123/ }).count(),
    ).toBe(0)
    // In the size of whoever types, also after that has changed.
    const before = await seen.locator('> div').count()
    await page.setViewportSize({ width: 1000, height: 500 })
    await expect.poll(() => seen.locator('> div').count()).toBeLessThan(before)
    await expect.poll(() => seen.innerText()).toContain('live 46')
    expect(await violations(reader)).toEqual([])
    await reader.context().close()
  })

  test('nothing serious is wrong for those who cannot see or use a mouse', async () => {
    expect(await violations(page)).toEqual([])
  })

  test('no page complained, but about the daemon that was away', () => {
    const expected =
      /ERR_CONNECTION_REFUSED|status of 404|WebSocket connection|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY/
    expect(dashboard.complaints.filter((text) => !expected.test(text))).toEqual([])
  })
})
