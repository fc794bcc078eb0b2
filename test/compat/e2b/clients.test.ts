import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRow, installedVersion } from '../../support/client-rows.ts'
import { type E2bHome, serveE2b } from './support/e2b-home.ts'
import { mustWrite, tableOf, writeTable, writtenTable } from './support/table.ts'
import type { Visited } from './tour/tour.ts'

const root = join(import.meta.dirname, '../../..')

/** The clients, as package.json names their versions. */
const versions = ['e2b-2.20', 'e2b-2.30', 'e2b-2.45', 'e2b']

// Some tests start several programs at once, which takes long on a busy machine.
describe('clients of E2B, unmodified', { timeout: 300_000 }, () => {
  let e2b: E2bHome
  let key: string

  beforeAll(async () => {
    e2b = await serveE2b()
    key = await e2b.key()
  })
  afterAll(() => e2b?.[Symbol.asyncDispose]())

  const visited = async (program: string, ...args: string[]): Promise<Visited[]> => {
    const said = await e2b.run(join(import.meta.dirname, 'programs', program), args, key)
    const lines = said.trim().split('\n')
    return lines.map((line) => JSON.parse(line))
  }

  /** Nothing fails that the page does not say, and the page claims nothing that fails. */
  const expectTable = (name: string, clients: Readonly<Record<string, readonly Visited[]>>) => {
    const failed = Object.values(clients).flat()
    expect(failed.filter(({ outcome }) => outcome === 'FAILED')).toEqual([])
    const table = tableOf(clients)
    if (mustWrite) writeTable(name, table)
    expect(writtenTable(name)).toBe(table)
    for (const [column, visits] of Object.entries(clients)) expectClient(name, column, visits)
  }

  const expectClient = (table: string, column: string, visits: readonly Visited[]) => {
    const [, client = column, version = ''] = /^(.+) (\d[\d.]*)$/.exec(column) ?? []
    const of = (outcome: string) =>
      visits.filter((each) => each.outcome === outcome).map(({ method }) => method)
    const full = table === 'git' ? `${client}, git` : client
    const known =
      version === ''
        ? { client: `code interpreter ${client}`, version: '–' }
        : { client: full, version }
    expectRow({ ...known, works: of('yes'), refused: of('no'), failed: of('FAILED') })
  }

  test('every method of four versions does what the page says', async () => {
    const results = await Promise.all(versions.map((name) => visited('tour.ts', name)))
    const columns = results.map((result, index) => {
      return [`e2b ${installedVersion(versions[index] ?? '')}`, result] as const
    })
    expectTable('e2b', Object.fromEntries(columns))
  })

  test('git inside works, which is commands in every version', async () => {
    const all = await visited('tour.ts', 'e2b', 'git')
    const own = all.filter(({ method }) => method.startsWith('git.'))
    expectTable('git', { [`e2b ${installedVersion('e2b')}`]: own })
  })

  test('the code interpreter keeps sessions, with IPython and without', async () => {
    const [rich, plain] = await Promise.all([visited('code.ts'), visited('code.ts', 'plain')])
    const name = `@e2b/code-interpreter ${installedVersion('@e2b/code-interpreter')}`
    expectTable('code-interpreter', { [name]: rich, 'without IPython': plain })
  })

  test('the client of @openai/agents-extensions works', async () => {
    const name = `@openai/agents-extensions ${installedVersion('@openai/agents-extensions')}`
    expectTable('agents-extensions', { [name]: await visited('openai.ts') })
  })

  test('the loop of the examples prints what it prints with Forkpoint itself', async () => {
    const [ours, theirs] = ['try-two-fixes.ts', 'e2b/try-two-fixes.ts'].map((name) =>
      join(root, 'examples', name),
    )
    const promised = (path = '') =>
      Array.from(readFileSync(path, 'utf8').matchAll(/^\/\/ → (.*)$/gm), ([, text = '']) => text)
    const said = await e2b.run(theirs ?? '', [], key)
    expect(said.trim().split('\n')).toEqual(promised(theirs))
    // The test of the examples sees to it that ours prints what it promises.
    expect(promised(theirs)).toEqual(promised(ours))
  })

  test('nothing is left when every program has killed its sandboxes', async () => {
    expect((await e2b.fp.list()).map(({ id }) => id)).toEqual([])
  })
})
