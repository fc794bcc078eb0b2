import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { unless } from '../support/evidence.ts'
import { Dashboard, noBrowser } from './support/dashboard.ts'

const row = (page: Page, name: string) =>
  page.getByRole('treeitem', { name: new RegExp(`^(environment|snapshot) ${name}\\b`) })

/** Fills the open dialog and confirms it. */
async function answer(page: Page, fields: Readonly<Record<string, string>>, confirm: string) {
  const dialog = page.getByRole('dialog')
  for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value)
  await dialog.getByRole('button', { name: confirm, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

describe('a working day', unless(noBrowser()), async () => {
  const dashboard = await Dashboard.start()
  afterAll(() => dashboard[Symbol.asyncDispose]())
  const { fp } = dashboard
  const page = await dashboard.open()
  const notices = page.locator('.notices')

  test('creates with the keyboard alone', async () => {
    await page.keyboard.press('c')
    await page.keyboard.type('web')
    await page.keyboard.press('Enter')
    await row(page, 'web').waitFor()
    expect(page.url()).toMatch(/\/node\/e\w+$/)
    expect((await fp.get('web')).name).toBe('web')
  })

  test('takes a snapshot and forks three, found through the palette', async () => {
    await (await fp.get('web')).exec('cd /root && printf "one\\ntwo\\n" > notes && mkdir -p sub')
    await page.keyboard.press('s')
    await answer(page, { Name: 'base', Message: 'two lines' }, 'Take it')
    await row(page, 'base').click()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('fork base')
    await page.keyboard.press('Enter')
    await answer(page, { 'How many': '3', Name: 'try' }, 'Fork')
    for (const name of ['try-1', 'try-2', 'try-3']) await row(page, name).waitFor()
    await notices.getByText('Made try-1, try-2, try-3.').waitFor()
  })

  test('shows the lines that changed, unified and side by side', async () => {
    const env = await fp.get('try-2')
    await env.exec('printf "one\\n2\\n" > notes; head -c 3000 /dev/zero > sub/blob')
    await row(page, 'try-2').click()
    await page.getByRole('tab', { name: 'Changes' }).click()
    await page.getByRole('button', { name: 'notes' }).click()
    const diff = page.getByRole('region', { name: 'Changes of /root/notes' })
    await diff.getByRole('row', { name: '2 − two' }).waitFor()
    await diff.getByRole('row', { name: '2 + 2' }).waitFor()
    await diff.getByRole('button', { name: 'side by side' }).click()
    await diff.getByRole('row', { name: '2 two 2 2' }).waitFor()
    await page.getByRole('button', { name: 'blob' }).click()
    await page.getByText('A binary file: its bytes differ.').waitFor()
  })

  test('browses, uploads by dropping, and downloads', async () => {
    await page.getByRole('tab', { name: 'Files' }).click()
    const files = page.getByRole('region', { name: 'Files in /root' })
    await files.getByRole('button', { name: 'notes' }).waitFor()
    const data = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File(['dropped bytes'], 'dropped.txt'))
      return transfer
    })()`)
    await files.dispatchEvent('drop', { dataTransfer: data })
    await files.getByRole('button', { name: 'dropped.txt' }).click()
    await page.getByText('dropped bytes').waitFor()
    const inside = await (await fp.get('try-2')).files.read('/root/dropped.txt')
    expect(inside.toString()).toBe('dropped bytes')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('dropped.txt')
  })

  test('edits labels and metadata', async () => {
    await row(page, 'base').click()
    await page.getByRole('textbox', { name: 'New label' }).fill('stage=ready')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove label stage' }).waitFor()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('textbox', { name: 'Metadata as JSON' }).fill('{ "score": 0.5 }')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('"score": 0.5').waitFor()
    const { labels, metadata } = await (await fp.snapshot('base')).info()
    expect(labels).toMatchObject({ stage: 'ready' })
    expect(metadata).toEqual({ score: 0.5 })
  })

  test('promotes the winner, and takes it back', async () => {
    await row(page, 'try-2').click()
    await page.keyboard.press('m')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Into').selectOption({ label: 'web' })
    await dialog.getByRole('button', { name: 'Promote' }).click()
    await notices.getByText('web is now what try-2 is.').waitFor()
    const web = await fp.get('web')
    expect((await web.exec('cat /root/notes')).stdout).toBe('one\n2\n')
    await notices.getByRole('button', { name: 'Undo' }).last().click()
    await expect.poll(async () => (await web.exec('cat /root/notes')).stdout).toBe('one\ntwo\n')
  })

  test('restores, and takes it back', async () => {
    const web = await fp.get('web')
    await web.exec('echo lost > /root/notes')
    await row(page, 'web').click()
    await page.keyboard.press('r')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Snapshot').selectOption({ label: 'base — two lines' })
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await notices.getByText('Restored web to base.').waitFor()
    expect((await web.exec('cat /root/notes')).stdout).toBe('one\ntwo\n')
    await notices.getByRole('button', { name: 'Undo' }).last().click()
    await expect.poll(async () => (await web.exec('cat /root/notes')).stdout).toBe('lost\n')
  })

  test('pauses and resumes with a key, and says what it did', async () => {
    await row(page, 'try-3').click()
    await page.keyboard.press('p')
    await page.getByRole('treeitem', { name: /^environment try-3\b .*paused/ }).waitFor()
    await page.keyboard.press('p')
    await page.getByRole('treeitem', { name: /^environment try-3\b .*running/ }).waitFor()
  })

  test('asks before it removes, and brings back what was kept', async () => {
    await row(page, 'try-1').click()
    await page.keyboard.press('Delete')
    await page.keyboard.press('Escape')
    await row(page, 'try-1').waitFor()
    await page.keyboard.press('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await row(page, 'try-1').waitFor({ state: 'detached' })
    await notices.getByRole('button', { name: 'Undo' }).last().click()
    await row(page, 'try-1').waitFor()
    expect((await (await fp.get('try-1')).exec('cat /root/notes')).stdout).toBe('one\ntwo\n')
  })

  test('shows what prune would remove before it does', async () => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type('prune')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/would be removed/).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  test('finds by words, status and label, and says how many', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('two lines')
    await expect.poll(() => row(page, 'try-2').count()).toBe(0)
    await row(page, 'base').waitFor()
    await page.keyboard.press('Escape')
    await page.getByLabel('Filter by label').selectOption('stage=ready')
    await expect.poll(() => row(page, 'web').count()).toBe(0)
    await page.getByLabel('Filter by label').selectOption('')
    await row(page, 'web').waitFor()
  })

  test('no page complained', () => {
    expect(dashboard.complaints).toEqual([])
  })
})
