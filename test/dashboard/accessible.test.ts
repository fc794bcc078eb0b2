import { afterAll, describe, expect, test } from 'vitest'
import { unless } from '../support/evidence.ts'
import { Dashboard, noBrowser } from './support/dashboard.ts'
import { violations } from './support/violations.ts'

describe('accessibility', unless(noBrowser()), async () => {
  const dashboard = await Dashboard.start()
  afterAll(() => dashboard[Symbol.asyncDispose]())
  const env = await dashboard.fp.create({ name: 'web', labels: { team: 'core' } })
  await env.exec('echo one > /root/notes')
  const base = await env.snapshot({ name: 'base', message: 'a message', metadata: { score: 1 } })
  await env.exec('echo two >> /root/notes')
  await base.fork(1, { name: 'try' })

  // In the dark, the page differs in its colours alone.
  for (const [colorScheme, rules] of [
    ['light', 'all'],
    ['dark', 'colours'],
  ] as const) {
    test(`axe finds nothing serious on any page, ${colorScheme}`, async () => {
      const page = await dashboard.open({ colorScheme })
      expect(await violations(page, rules)).toEqual([])
      await page.getByRole('treeitem', { name: /^snapshot base\b/ }).click()
      await page.getByText('"score": 1').waitFor()
      expect(await violations(page, rules)).toEqual([])
      await page.getByRole('treeitem', { name: /^environment web\b/ }).click()
      for (const [tab, shown] of [
        ['Overview', 'continues from'],
        ['Changes', 'notes'],
        ['Files', 'notes'],
        ['Log', 'snapshot'],
        ['Resources', 'Processes:'],
      ] as const) {
        await page.getByRole('tab', { name: tab }).click()
        const panel = page.getByRole('tabpanel')
        await panel.getByText(shown).first().waitFor()
        if (tab === 'Changes') {
          await panel.getByRole('button', { name: 'notes' }).click()
          await panel.getByRole('row').first().waitFor()
        }
        expect(await violations(page, rules), tab).toEqual([])
      }
      await page.keyboard.press('f')
      await page.getByRole('dialog', { name: 'Fork web' }).waitFor()
      expect(await violations(page, rules), 'dialog').toEqual([])
      await page.keyboard.press('Escape')
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Commands' }).waitFor()
      expect(await violations(page, rules), 'palette').toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Log out' }).click()
      await page.getByText('You are logged out').waitFor()
      expect(await violations(page, rules), 'welcome').toEqual([])
    })
  }

  test('the focus is visible, and stays in an open dialog', async () => {
    const page = await dashboard.open()
    await page.keyboard.press('Tab')
    const outline = 'getComputedStyle(document.activeElement).outlineStyle'
    expect(await page.evaluate(outline)).toBe('solid')
    await page.getByRole('treeitem', { name: /^environment web\b/ }).click()
    await page.keyboard.press('n')
    const isInside = 'document.querySelector("dialog").contains(document.activeElement)'
    for (let presses = 0; presses < 6; presses += 1) {
      const isAway = 'document.activeElement === document.body'
      expect(await page.evaluate(`${isInside} || ${isAway}`)).toBe(true)
      await page.keyboard.press('Tab')
    }
  })

  test('nothing moves for whoever wants no motion', async () => {
    const page = await dashboard.open({ reducedMotion: 'reduce' })
    const running = 'document.getAnimations().filter((each) => each.playState === "running").length'
    expect(await page.evaluate(running)).toBe(0)
  })

  test('on a phone in portrait, nothing is wider than the screen', async () => {
    const page = await dashboard.open({ viewport: { width: 390, height: 844 }, isMobile: true })
    const isWide = 'document.documentElement.scrollWidth > innerWidth'
    expect(await page.evaluate(isWide)).toBe(false)
    await page.getByRole('treeitem', { name: /^snapshot base\b/ }).click()
    await page.getByRole('tabpanel').getByText('a message').waitFor()
    expect(await page.evaluate(isWide)).toBe(false)
    await page.getByRole('button', { name: '‹ Tree' }).click()
    await page.getByRole('tree').waitFor()
  })
})
