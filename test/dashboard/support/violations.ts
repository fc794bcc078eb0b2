import axe from 'axe-core'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/** What axe finds that is serious or worse, in words. */
export async function violations(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate<{ violations: Violation[] }>(
    rules === 'all' ? 'axe.run(document)' : 'axe.run(document, { runOnly: ["color-contrast"] })',
  )
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}
