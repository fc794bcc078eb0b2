import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { judge } from '../../../src/bench/promises/judge.ts'
import { withResults } from '../../../src/bench/report/markdown.ts'
import { summarise } from '../../../src/bench/report/summaries.ts'
import { writeReport } from '../../../src/bench/report/write-report.ts'
import type { Results } from '../../../src/bench/results.ts'
import { renderBench } from '../../../src/cli/render/bench.ts'
import { plain } from '../../../src/cli/render/layout/style.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { groups, results } from './results.ts'

const judged: Results = { ...results, promises: judge(groups) }
const page =
  'before\n<!-- results: written by npm run bench:page -->\nold\n<!-- end of results -->\nafter\n'

describe('summaries', () => {
  test('show the two ends of a chain, and the value that a series was measured at', () => {
    const all = summarise(results)
    expect(
      all.filter(({ group }) => group === 'chain').map(({ what, count }) => [what, count]),
    ).toEqual([
      ['snapshot, first 10', 10],
      ['snapshot, last 10', 10],
      ['restore, first 10', 10],
      ['restore, last 10', 10],
    ])
    expect(all.map(({ what }) => what)).toEqual(
      expect.arrayContaining(['fork, 2048 MB', 'fork, all, 1 fork', 'fork, all, 100 forks']),
    )
    expect(all[0]).toMatchObject({ what: 'first snapshot', p50: 50, p95: 60, count: 3 })
  })
})

describe('the table for people', () => {
  const text = renderBench(judged, plain)

  test('shows medians, tails, promises and what is missing', () => {
    expect(text).toMatch(/^idle shell +first snapshot +Forkpoint +50 ms +60 ms +3$/m)
    expect(text).toMatch(/^restore of it, against podman restore +at least 5× +4× +MISSED$/m)
    expect(text).toMatch(/^private memory of such a fork +under 6 MiB +6 MiB +MISSED$/m)
    expect(text).toMatch(/^restore of it from a spare.* at least 40× +not measured$/m)
    expect(text).toMatch(/^untar 11000 files +until it returns +100 ms +120 ms +1.2×$/m)
    expect(text).toMatch(
      /^ON +WHAT +BEFORE +AFTER +RATIO\nidle shell +pause, .* 50 ms +20 ms +0.4×$/m,
    )
    expect(text).toContain('not measured  docker commit and run: dockerd is not installed')
    expect(text).toMatch(/\n\nfailed {2}chain: Error: no room$/)
  })
})

describe('the page', () => {
  test('gets new results between its marks, instead of the old ones', () => {
    const written = withResults(page, judged)
    expect(written).toMatch(
      /^before\n<!-- results.*-->\n\n2026-01-02, 3 rounds, 1 min 30 s in all\./,
    )
    expect(written).toMatch(/<!-- end of results -->\nafter\n$/)
    expect(written).not.toContain('old')
    expect(written).toContain('node 24.0.0, criu 4.2.1, no docker')
    expect(written).toContain('| private memory of such a fork | under 6 MiB | 6 MiB | MISSED |')
    expect(written).toContain('| first snapshot | 50 ms | 500 ms |')
    expect(written).toContain('| rm -r 30000 files | until it returns | 250 ms | 500 ms | 2× |')
    expect(written).toContain(
      '| Python 512 MB | 520 MiB | 3 MiB | 2 MiB copied of python3 (mmap: frees it) |',
    )
    expect(written).toContain('| idle shell | 0 B | 1 MiB |  |')
    expect(written).toContain('| on | what | before | after | ratio |')
    expect(written).toContain('| idle shell | pause, second snapshot | 50 ms | 20 ms | 0.4× |')
    expect(withResults(written, judged)).toBe(written)
  })

  test('names the checkout that took turns', () => {
    expect(withResults(page, { ...judged, against: 'ad6c837' })).toContain(
      'no docker. Took turns with ad6c837.',
    )
  })

  test('without marks is refused', () => {
    expect(() => withResults('nothing', judged)).toThrow('no "<!-- results')
  })
})

describe('a written report', () => {
  test('has all samples, one series per line, and the plots', () => {
    using dir = new TemporaryDirectory()
    writeReport(dir.file('new/plots'), judged)
    const text = readFileSync(dir.file('new/plots/results.json'), 'utf8')
    expect(JSON.parse(text)).toEqual(judged)
    const count = Object.values(groups).flat().length
    expect(text.match(/^ +\{ "by": .* \},?$/gm)).toHaveLength(count)
    expect(readFileSync(dir.file('new/plots/latency-by-forks.svg'), 'utf8')).toContain('<svg')
  })
})
