import { expect, test } from 'vitest'
import { chromiumFlags } from '../../src/bench/workloads/chromium-flags.ts'
import type { Environment } from '../../src/index.ts'
import { branchThreeWays } from '../support/workloads/branch-three-ways.ts'
import { evaluate, pages } from '../support/workloads/devtools.ts'
import { run } from '../support/workloads/run.ts'

const port = 9222
const flags = chromiumFlags(port)

const page = `
<title>counting</title>
<script>
  let ticks = 0
  const marks = []
  const secret = Math.random().toString(36)
  setInterval(() => { document.body.textContent = String(++ticks) }, 20)
</script>
<body></body>
`

async function ticks(env: Environment): Promise<number> {
  return Number(await evaluate(env, port, 'ticks'))
}

/** A random value that the page chose when it was loaded; a reloaded page has another. */
let secret = ''

test('Chromium keeps its page running, and answers on its debugging port', () =>
  branchThreeWays({
    start: async (env) => {
      await env.files.write('/root/page.html', page)
      await run(env, `chromium ${flags.join(' ')} file:///root/page.html > /root/log 2>&1 &`)
      await expect.poll(() => pages(env, port), { timeout: 40_000 }).toHaveLength(1)
      await expect.poll(() => ticks(env), { timeout: 60_000 }).toBeGreaterThan(5)
      secret = await evaluate(env, port, 'secret')
    },
    check: async (env) => {
      expect(await evaluate(env, port, 'secret')).toBe(secret)
      const before = await ticks(env)
      await expect.poll(() => ticks(env), { timeout: 60_000 }).toBeGreaterThan(before)
      expect(await evaluate(env, port, 'document.title')).toBe('counting')
    },
    mark: async (env, word) => {
      await evaluate(env, port, `marks.push(${JSON.stringify(word)})`)
    },
    marks: async (env) => JSON.parse(await evaluate(env, port, 'JSON.stringify(marks)')),
  }))
