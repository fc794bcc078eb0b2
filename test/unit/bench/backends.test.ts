import { describe, expect, test } from 'vitest'
import { plotsOf } from '../../../src/bench/plot/plots.ts'
import { judge } from '../../../src/bench/promises/judge.ts'
import { backendTables } from '../../../src/bench/report/backends.ts'
import { withBackends } from '../../../src/bench/report/markdown.ts'
import type { By, Results, Series } from '../../../src/bench/results.ts'
import { renderBench } from '../../../src/cli/render/bench.ts'
import { plain } from '../../../src/cli/render/layout/style.ts'
import { results } from './results.ts'

function series(by: By, what: string, value: number): Series {
  const unit = /bytes|memory/.test(what) ? 'bytes' : 'ms'
  return { by, what, on: 'idle shell', unit, samples: [value] }
}

const backends = [
  series('native backend', 'restore', 20),
  series('native backend', 'bytes of a snapshot', 2 ** 20),
  series('native backend', 'create', 90),
  series('criu backend', 'restore', 100),
  series('criu backend', 'create', 60),
  series('podman backend', 'restore', 400),
]

const compared: Results = {
  ...results,
  groups: { backends },
  backends: [
    { backend: 'native', captured: ['filesystem', 'processes'], missing: null },
    { backend: 'docker', captured: [], missing: 'no socket; start it' },
    { backend: 'podman', captured: ['filesystem'], missing: null },
    { backend: 'criu', captured: ['filesystem', 'processes'], missing: null },
  ],
  promises: judge({ backends }),
}

const page =
  'before\n<!-- backends: written by npm run bench:page -->\nold\n<!-- end of backends -->\nafter\n'

describe('a comparison of backends', () => {
  test('has a row for every backend, with what it captured or why it is missing', () => {
    const [table, ...more] = backendTables(compared)
    expect(more).toEqual([])
    expect(table?.rows.map((row) => [row[0], row.at(-1)])).toEqual([
      ['native', 'filesystem, processes'],
      ['docker', 'missing: no socket; start it'],
      ['podman', 'filesystem'],
      ['criu', 'filesystem, processes'],
    ])
    expect(table?.rows[0]?.slice(1, 6)).toEqual(['90 ms', 'failed', 'failed', 'failed', '20 ms'])
  })

  test('still gives the reasons if nothing could be measured', () => {
    const nothing = { ...compared, groups: { backends: [] } }
    expect(backendTables(nothing)[0]?.rows[1]?.at(-1)).toBe('missing: no socket; start it')
  })

  test('says where native is the fastest, and where it is not', () => {
    const judged = compared.promises.filter(({ measured }) => measured !== null)
    expect(judged.map(({ what, measured, met }) => [what.split(', ')[1], measured, met])).toEqual([
      ['create', 1.5, false],
      ['restore', 0.2, true],
    ])
  })

  test('is shown on the command line, on the page and as a plot', () => {
    expect(renderBench(compared, plain)).toMatch(/^idle shell\nBACKEND +CREATE +EXEC/)
    expect(withBackends(page, compared)).toContain('| docker |  |')
    expect(withBackends(page, compared)).not.toContain('old')
    const [plot, ...more] = plotsOf(compared)
    expect(more).toEqual([])
    expect(plot?.name).toBe('backends-idle-shell')
    expect(plot?.svg).toContain('>100 ms</text>')
  })
})
