import { afterAll, describe, expect, test } from 'vitest'
import { unless } from '../support/evidence.ts'
import { Dashboard, noBrowser } from './support/dashboard.ts'

describe('the dashboard', unless(noBrowser()), async () => {
  const dashboard = await Dashboard.start()
  afterAll(() => dashboard[Symbol.asyncDispose]())
  const { fp } = dashboard

  test('a link logs in once, and leaves no trace in the address', async () => {
    const link = await dashboard.link()
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#login=[\w-]{32}$/)
    const page = await (await dashboard.context()).newPage()
    await page.goto(link)
    await page.getByText('Nothing has grown here yet').waitFor()
    expect(page.url()).toBe(`${dashboard.url}/`)

    await page.reload()
    await page.getByText('Nothing has grown here yet').waitFor()

    const other = await (await dashboard.context()).newPage()
    await other.goto(link)
    await other.getByRole('alert').getByText('the link was used before').waitFor()
  })

  test('the tree grows while another client works', async () => {
    const page = await dashboard.open()
    const env = await fp.create({ name: 'web' })
    await page.getByRole('treeitem', { name: /^environment web\b .*running/ }).waitFor()
    const base = await env.snapshot({ name: 'base', message: 'the beginning' })
    await page.getByRole('treeitem', { name: /^snapshot base\b .*the beginning/ }).waitFor()
    await base.fork(3, { name: 'try' })
    for (const name of ['try-1', 'try-2', 'try-3'])
      await page.getByRole('treeitem', { name: new RegExp(`^environment ${name}\\b`) }).waitFor()
    expect(await page.getByRole('treeitem').count()).toBe(5)
  })

  test('logging out removes the token that was made for the page', async () => {
    const page = await dashboard.open()
    const before = await fp.tokens.list()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByText('You are logged out').waitFor()
    await expect.poll(async () => (await fp.tokens.list()).length).toBe(before.length - 1)
    await page.reload()
    await page.getByText('forkpoint dashboard').waitFor()
  })

  test('no page complained', () => {
    const expected = /401 \(Unauthorized\)/
    expect(dashboard.complaints.filter((text) => !expected.test(text))).toEqual([])
  })
})
