import { afterAll, describe, expect, test } from 'vitest'
import { unless } from '../support/evidence.ts'
import { Dashboard, noBrowser } from './support/dashboard.ts'

describe('the page', unless(noBrowser()), async () => {
  const dashboard = await Dashboard.start()
  afterAll(() => dashboard[Symbol.asyncDispose]())
  const { daemon } = dashboard
  const env = await dashboard.fp.create({ name: 'web' })
  await env.snapshot({ name: 'base' })

  test('says that the daemon is away, and continues when it is back', async () => {
    const page = await dashboard.open()
    await daemon.kill()
    await page.getByRole('alert').getByText('The daemon does not answer').waitFor()
    expect(await page.getByRole('treeitem').count()).toBe(2)
    await daemon.start({}, '--listen', new URL(dashboard.url).host)
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await (await daemon.connect()).create({ name: 'later' })
    await page.getByRole('treeitem', { name: /^environment later\b/ }).waitFor()
  })

  test('a daemon that is away when the page is opened again is asked again', async () => {
    const page = await dashboard.open()
    // The page itself comes from the daemon, so only its questions can fail here.
    await page.route('**/v1/principal', (route) => route.abort())
    await page.reload()
    await page.getByText('The daemon does not answer').waitFor()
    await page.unroute('**/v1/principal')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('tree').waitFor()
  })

  test('a token that expires ends the session, and says so', async () => {
    const page = await dashboard.open({}, '--expires', '4s')
    await page.getByText('Your session has ended').waitFor()
    await page.reload()
    await page.getByText('forkpoint dashboard').waitFor()
    expect(await page.getByRole('tree').count()).toBe(0)
  })

  test('a removed token ends it too, and a pasted one begins another', async () => {
    const fp = await daemon.connect()
    const { id, token } = await fp.tokens.create({ scope: 'read' })
    const page = await (await dashboard.context()).newPage()
    await page.goto(dashboard.url)
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('tree').waitFor()
    await fp.tokens.remove(id)
    await page.getByText('Your session has ended').waitFor()
    await page.getByLabel('Token').fill('fp_wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').getByText('the token is not valid').waitFor()
  })

  test('with a read-only token, nothing is there that cannot work', async () => {
    const page = await dashboard.open({}, '--scope', 'read')
    const refused: string[] = []
    page.on('response', (answer) => {
      if (answer.status() === 403) refused.push(answer.url())
    })
    await page.getByText('read only').waitFor()
    for (const name of ['web', 'base']) {
      await page.getByRole('treeitem', { name: new RegExp(`^\\w+ ${name}\\b`) }).click()
      await page.getByRole('tab', { name: 'Overview', selected: true }).waitFor()
      for (const key of ['s', 'f', 'r', 'n', 'p', 'c', 'Delete']) await page.keyboard.press(key)
      expect(await page.getByRole('dialog').count()).toBe(0)
      expect(await page.getByRole('textbox', { name: 'New label' }).count()).toBe(0)
    }
    await page.getByRole('treeitem', { name: /^environment web\b/ }).click()
    const names = await page.getByRole('complementary').getByRole('button').allTextContents()
    expect(names).toEqual(['Mark'])
    for (const tab of ['Changes', 'Files', 'Log', 'Resources']) {
      await page.getByRole('tab', { name: tab }).click()
      await page.getByRole('tab', { name: tab, selected: true }).waitFor()
    }
    await page.getByText('Looking at processes needs the scope exec').waitFor()
    await page.keyboard.press('Control+k')
    const offered = await page.getByRole('option').allTextContents()
    expect(offered.filter((text) => /create|fork|prune|remove|restore/i.test(text))).toEqual([])
    expect(refused).toEqual([])
  })

  test('a node that is gone, and a search without a result, say so', async () => {
    const page = await dashboard.open()
    await page.goto(`${dashboard.url}/node/e000000000000`)
    await page.getByText('It is gone').waitFor()
    await page.getByRole('searchbox').fill('no such words')
    await page.getByText('Nothing found').waitFor()
  })
})
