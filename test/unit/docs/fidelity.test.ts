import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Results, worst } from '../../zdtm/outcomes.ts'
import { withResults } from '../../zdtm/page.ts'
import { readPage, root } from './markdown.ts'

describe('the page on fidelity', () => {
  const page = readPage('docs/fidelity.md')
  const file = join(root, 'docs/fidelity/results.json')
  const results: Results | null = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null

  test('shows the tables of the run whose results are next to it, or that there was none', () => {
    expect(withResults(page.text, results)).toBe(page.text)
  })

  test('is of a run of the whole suite, if there was one', () => {
    const { passUndisturbed = [], failUndisturbed = {}, built = 0 } = results ?? {}
    expect(passUndisturbed.length + Object.keys(failUndisturbed).length).toBe(built)
  })
})

describe('the tables', () => {
  const entry = { program: 'pipe00', repetition: 1 }
  const results: Results = {
    criu: '4.2',
    built: 4,
    passUndisturbed: ['futex', 'pipe00', 'shm'],
    failUndisturbed: { autofs: 'did not start: not permitted' },
    repetitions: 2,
    entries: [
      {
        ...entry,
        round: 'fork',
        outcome: {
          kind: 'refused',
          words: 'cannot capture "./pipe00 --pidfile" (pid 7 inside): it has a | pipe',
          isNamed: true,
        },
      },
      { ...entry, round: 'restore', outcome: { kind: 'wrong', words: 'restored: 4711 is gone' } },
    ],
  }
  const empty = 'before\n<!-- zdtm: written by npm run test:zdtm -->\n<!-- end of zdtm -->\nafter\n'
  const written = withResults(empty, results)

  test('count what happened to programs in each round', () => {
    expect(written).toContain('2 of these (66.7 %) pass in all four rounds, 2 times.')
    expect(written).toContain('| fork | 2 | 1 | 0 | 0 | 0 | 0 |')
    expect(written).toContain('| three snapshots | 3 | 0 | 0 | 0 | 0 | 0 |')
    expect(written).toContain('| restore | 2 | 0 | 0 | 1 | 0 | 0 |')
  })

  test('group by cause, without the names and numbers of processes', () => {
    expect(written).toContain('| refused | it has a \\| pipe | `pipe00` | fork |')
    expect(written).toContain('| wrong | … is gone | `pipe00` | restore |')
  })

  test('replace those on a page', () => {
    expect(withResults(written, results)).toBe(written)
    expect(() => withResults('no markers', results)).toThrow('no "<!-- zdtm')
  })

  test('let the worst count that happened once', () => {
    const passed = { kind: 'passed' } as const
    const lost = { kind: 'lost', words: 'it cannot be restored' } as const
    expect(worst([passed, lost, { kind: 'wrong', words: 'gone' }])).toBe(lost)
    expect(worst([passed, passed])).toEqual(passed)
  })
})
