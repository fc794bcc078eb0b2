import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { newSnapshotId, type SnapshotId } from '../../src/model/ids.ts'
import { openStore } from '../../src/store/open-store.ts'
import { unless } from '../support/evidence.ts'
import { Dashboard, noBrowser } from './support/dashboard.ts'

const wanted = 1000
/** What the issue allows from a key or a click to the next picture. */
const budgetMs = 100
/** The machine may be busy with other tests; a page that is slow itself is slow each time. */
const rounds = 4

describe('a large tree', unless(noBrowser()), async () => {
  const dashboard = await Dashboard.start()
  const env = await dashboard.fp.create({ name: 'web' })
  const first = await env.snapshot({ name: 'base' })
  await first.durable()
  const made = growTree(dashboard.daemon.cli.home.path, first.id)
  afterAll(async () => {
    using store = openStore(dashboard.daemon.cli.home.path)
    store.transaction(() => {
      for (const id of made.toReversed()) store.snapshots.remove(id)
    })
    await dashboard[Symbol.asyncDispose]()
  })

  test('holds only the rows in sight, and reaches the last one', async () => {
    const page = await dashboard.open()
    await page.getByText(String(wanted), { exact: true }).waitFor()
    expect(await page.getByRole('treeitem').count()).toBeLessThan(100)
    await page.getByRole('tree').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('End')
    await page.getByRole('treeitem', { name: /^environment web\b/ }).waitFor()
    expect(await page.getByRole('treeitem').count()).toBeLessThan(100)
    await page.getByRole('button', { name: 'Fit' }).click()
    await page.getByRole('button', { name: 'Fold all', exact: true }).click()
    await expect.poll(() => page.getByRole('treeitem').count()).toBe(1)
    await page.getByRole('button', { name: 'Unfold all' }).click()
  })

  test(`keys, clicks, wheels and words are answered within ${budgetMs} ms`, async () => {
    const page = await dashboard.open()
    await page.getByText(String(wanted), { exact: true }).waitFor()
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      times.push(await slowest(page))
      if (Math.min(...times) < budgetMs) break
    }
    expect(Math.min(...times), `of ${times.join(', ')} ms`).toBeLessThan(budgetMs)
  })
})

/** The longest time from an input to the picture that shows it, as the browser itself measured it, in ms. */
async function slowest(page: Page): Promise<number> {
  await page.evaluate(`
    window.durations = []
    window.watching?.disconnect()
    window.watching = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.durations.push(entry.duration)
    })
    window.watching.observe({ type: 'event', durationThreshold: 16 })
  `)
  await page.getByRole('tree').focus()
  for (const key of ['ArrowDown', 'ArrowDown', 'PageDown', 'PageDown', 'End', 'Home', 'ArrowDown'])
    await page.keyboard.press(key)
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowRight')
  await page.mouse.move(200, 400)
  for (let turn = 0; turn < 10; turn += 1) await page.mouse.wheel(0, 900)
  await page.getByRole('treeitem').nth(20).click()
  await page.getByRole('searchbox').fill('')
  await page.keyboard.type('step 7')
  await page.keyboard.press('Escape')
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))')
  const durations = await page.evaluate<number[]>('window.durations')
  return Math.max(0, ...durations)
}

/** Records of snapshots without data: the daemon lists them like any other. Some continue a line, some begin one. */
function growTree(home: string, root: SnapshotId): SnapshotId[] {
  using store = openStore(home)
  const like = store.snapshots.resolve(root)
  const ids: SnapshotId[] = []
  store.transaction(() => {
    // The environment and the first snapshot are nodes, too.
    for (let index = 0; index < wanted - 2; index += 1) {
      const id = newSnapshotId()
      const parent = ids[index - (index % 9 === 0 ? 7 : 1)] ?? root
      const createdAt = like.createdAt + index
      const message = `step ${index}`
      store.snapshots.insert({ ...like, id, name: null, parent, createdAt, message })
      ids.push(id)
    }
  })
  return ids
}
