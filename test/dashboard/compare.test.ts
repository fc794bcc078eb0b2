import { afterAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { unless } from '../support/evidence.ts'
import { Dashboard, noBrowser } from './support/dashboard.ts'
import { violations } from './support/violations.ts'

describe('the comparison', unless(noBrowser()), async () => {
  const dashboard = await Dashboard.start()
  afterAll(() => dashboard[Symbol.asyncDispose]())
  const { fp } = dashboard
  const env = await fp.create({ name: 'web' })
  await env.exec('mkdir /srv/app && echo one > /srv/app/notes')
  const base = await env.snapshot({ name: 'base' })
  const tries = await base.fork(3, { name: 'try' })
  await Promise.all(
    tries.map(async (each, index) => {
      await each.exec(`echo try ${index + 1} >> /srv/app/notes; seq ${index} > /srv/app/n${index}`)
      await each.label({ score: String([0.4, 0.9, 0.7][index]), team: 'core' })
      await runLast(each, index)
    }),
  )
  /** Whichever way it ran, and whoever waited for it. */
  async function runLast(each: Environment, index: number): Promise<void> {
    const command = `echo "result ${index + 1}"; (exit ${index})`
    if (index === 0) {
      const left = await each.spawn(command, { mode: 'detached' })
      await left.wait()
      left.detach()
    } else if (index === 1) {
      await each.exec(command)
    } else {
      await dashboard.daemon.cli.run(['exec', each.name ?? '', '--', command])
    }
  }

  const page = await dashboard.open()
  await page.goto(`${dashboard.url}/compare?of=${tries.map(({ id }) => id).join()}`)
  const heads = page.getByRole('region', { name: 'Scores and sizes' }).getByRole('columnheader')

  test('shows scores in columns, which they sort', async () => {
    const scores = page.getByRole('row', { name: /^Sort by score/ })
    await expect.poll(() => scores.getByRole('cell').allInnerTexts()).toEqual(['0.4', '0.9', '0.7'])
    await heads.filter({ hasText: 'try-2' }).getByText('best score').waitFor()
    expect(await page.getByRole('row', { name: /team/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Sort by score' }).click()
    await expect.poll(() => scores.getByRole('cell').allInnerTexts()).toEqual(['0.9', '0.7', '0.4'])
  })

  test('shows what the last command of each printed, and how it ended', async () => {
    for (const [number, exit] of [
      [1, 'exit 0'],
      [2, 'exit 1'],
      [3, 'exit 2'],
    ] as const) {
      const last = page.getByRole('article', { name: `Last command of try-${number}` })
      await last.getByText(`result ${number}`, { exact: true }).waitFor()
      await last.getByText(`${exit},`).waitFor()
    }
    await page.getByLabel('Command to run in each').fill('tail -n 1 /srv/app/notes')
    await page.getByRole('button', { name: 'Run in each' }).click()
    for (const number of [1, 2, 3]) {
      const last = page.getByRole('article', { name: `Last command of try-${number}` })
      await last.locator('pre').getByText(`try ${number}`).waitFor()
    }
  })

  test('shows the files that differ, against what they grew from and against each other', async () => {
    const files = page.getByRole('region', { name: 'Files', exact: true })
    await files.getByText('what they grew from: base').waitFor({ state: 'attached' })
    await files.getByRole('button', { name: /^added.*: \/srv\/app\/n1 in try-2/ }).waitFor()
    await files.getByRole('button', { name: /^modified.*notes in try-2/ }).click()
    await files.getByRole('row', { name: /\+ ?try 2/ }).waitFor()
    await files.getByLabel('Changed against').selectOption({ label: 'try-1' })
    await files.getByRole('button', { name: /^deleted.*n0 in try-2/ }).waitFor()
    await files.getByRole('button', { name: /^modified.*notes in try-3/ }).click()
    await files.getByRole('row', { name: /− ?try 1/ }).waitFor()
    await files.getByRole('row', { name: /\+ ?try 3/ }).waitFor()
  })

  test('nothing serious is wrong for those who cannot see or use a mouse', async () => {
    expect(await violations(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await violations(page, 'colours')).toEqual([])
    await page.emulateMedia({ colorScheme: 'light' })
  })

  test('a reader is offered nothing that cannot work', async () => {
    const reader = await dashboard.open({}, '--scope', 'read')
    await reader.goto(page.url())
    await reader.getByRole('row', { name: /^Sort by score/ }).waitFor()
    expect(await reader.getByRole('button', { name: /Promote|Keep only/ }).count()).toBe(0)
    expect(await reader.getByRole('region', { name: 'Last commands' }).count()).toBe(0)
  })

  test('the winner is promoted, and the others are removed', async () => {
    await page.getByRole('button', { name: 'Promote try-2' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Into').innerText()).toContain('web')
    await dialog.getByLabel(/^Then remove the others/).check()
    await dialog.getByRole('button', { name: 'Promote' }).click()
    await page.getByText('web is now what try-2 is. Removed try-3, try-1.').waitFor()
    expect((await env.exec('cat /srv/app/notes')).stdout).toBe('one\ntry 2\n')
    expect((await fp.list()).map(({ name }) => name).sort()).toEqual(['try-2', 'web'])
    await page.getByText('Mark 2 to 6 environments').waitFor()
  })

  test('no page threw anything, or broke its policy', () => {
    // It may ask for what is being removed.
    const expected = /^Failed to load resource/
    expect(dashboard.complaints.filter((text) => !expected.test(text))).toEqual([])
  })
})
