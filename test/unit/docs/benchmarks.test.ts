import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { plotsOf } from '../../../src/bench/plot/plots.ts'
import { judge } from '../../../src/bench/promises/judge.ts'
import { withBackends, withResults } from '../../../src/bench/report/markdown.ts'
import { backendNames, groupNames, type Results } from '../../../src/bench/results.ts'
import { linksOf, readPage, root } from './markdown.ts'

const page = readPage('docs/benchmarks.md')
const read = (name: string) => readFileSync(join(root, 'docs/benchmarks', name), 'utf8')
const results: Results = JSON.parse(read('results.json'))

describe('the page on benchmarks', () => {
  test('shows the tables of the run whose samples are next to it', () => {
    expect(withResults(page.text, results)).toBe(page.text)
  })

  test('says for each promise what follows from the samples', () => {
    expect(judge(results.groups)).toEqual(results.promises)
  })

  test.each(plotsOf(results))('shows the plot $name of these samples', ({ name, svg }) => {
    expect(read(`${name}.svg`)).toBe(svg)
    expect(linksOf(page)).toContain(`benchmarks/${name}.svg`)
  })

  test('describes every group of measurements', () => {
    const described = Array.from(page.text.matchAll(/^\| `([a-z]+)` \|/gm), ([, name]) => name)
    expect(described).toEqual([...groupNames])
  })
})

describe('the comparison of backends', () => {
  const backends: Results = JSON.parse(read('backends.json'))

  test('shows the tables of the run whose samples are next to it', () => {
    expect(withBackends(page.text, backends)).toBe(page.text)
    expect(judge(backends.groups)).toEqual(backends.promises)
  })

  test('has measured every backend', () => {
    const measured = (backends.backends ?? []).filter(({ missing }) => missing === null)
    expect(measured.map(({ backend }) => backend)).toEqual([...backendNames])
    expect(backends.failed).toEqual([])
  })

  test.each(plotsOf(backends))('shows the plot $name of these samples', ({ name, svg }) => {
    expect(read(`${name}.svg`)).toBe(svg)
    expect(linksOf(page)).toContain(`benchmarks/${name}.svg`)
  })
})
