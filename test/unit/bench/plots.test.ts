import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { type Chart, drawChart } from '../../../src/bench/plot/chart.ts'
import { plotsOf } from '../../../src/bench/plot/plots.ts'
import { linearScale, logScale } from '../../../src/bench/plot/scale.ts'
import { groups } from './results.ts'

/** Elements by a real XML parser: the name and attributes of each, and the text in it. */
const parser = `
import json, sys, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.read())
print(json.dumps([[e.tag.split('}')[1], e.attrib, e.text or ''] for e in root.iter()]))
`

type Element = [tag: string, attributes: Record<string, string>, text: string]

function parse(svg: string): Element[] {
  return JSON.parse(
    execFileSync('/usr/bin/python3', ['-c', parser], { input: svg, encoding: 'utf8' }),
  )
}

function textsOf(elements: readonly Element[]): string[] {
  return elements.filter(([tag]) => tag === 'text').map(([, , text]) => text)
}

const chart: Chart = {
  title: 'Time & <space>',
  x: { label: 'memory (MB)', kind: 'log', ticks: [1, 10, 100] },
  y: { label: 'time (ms)', kind: 'linear' },
  lines: [
    {
      name: 'one',
      points: [
        [1, 0],
        [10, 50],
        [100, 100],
      ],
    },
    {
      name: 'two',
      points: [
        [1, 10],
        [100, 99],
      ],
      shape: 'dots',
    },
  ],
}

describe('scales', () => {
  test('a linear one begins at zero and ends above all values, with round ticks', () => {
    const { at, ticks } = linearScale([3, 42], [100, 0])
    expect(ticks).toEqual([0, 10, 20, 30, 40, 50])
    expect([at(0), at(25), at(50)]).toEqual([100, 50, 0])
  })

  test('a logarithmic one goes from decade to decade', () => {
    const { at, ticks } = logScale([12, 900], [0, 200])
    expect(ticks).toEqual([10, 20, 50, 100, 200, 500, 1000])
    expect([at(10), at(100), at(1000)]).toEqual([0, 100, 200].map((x) => expect.closeTo(x)))
  })

  test('work for a single value, and for only zeros', () => {
    expect(logScale([10], [0, 1]).ticks).toEqual([10, 20, 50, 100])
    expect(linearScale([0], [0, 1]).at(0)).toBe(0)
  })
})

describe('a chart', () => {
  const elements = parse(drawChart(chart))

  test('names its axes with units, its ticks and its lines', () => {
    const texts = textsOf(elements)
    expect(texts).toEqual(
      expect.arrayContaining([
        'Time & <space>',
        'memory (MB)',
        'time (ms)',
        '1',
        '10',
        '100',
        'one',
        'two',
      ]),
    )
  })

  test('draws each point where its axes put it', () => {
    const dots = elements.filter(([tag]) => tag === 'circle').map(([, { cx, cy }]) => [cx, cy])
    expect(dots.slice(0, 3)).toEqual([
      ['76', '340'],
      ['303', '196'],
      ['530', '52'],
    ])
    const lines = elements.filter(([tag]) => tag === 'polyline')
    expect(lines.map(([, { points }]) => points)).toEqual(['76,340 303,196 530,52'])
  })

  test('separates the names of lines that end close to each other', () => {
    const heights = elements
      .filter(([, , text]) => text === 'one' || text === 'two')
      .map(([, { y }]) => Number(y))
    expect(Math.abs((heights[0] ?? 0) - (heights[1] ?? 0))).toBeGreaterThanOrEqual(16)
  })

  test('has no background, and other text colours in dark mode', () => {
    expect(elements.filter(([tag]) => tag === 'rect')).toEqual([])
    expect(drawChart(chart)).toContain('prefers-color-scheme: dark')
  })
})

describe('plots', () => {
  test('are four, and stay within their frame', () => {
    const plots = plotsOf({ groups })
    expect(plots.map(({ name }) => name)).toEqual([
      'latency-by-memory',
      'latency-by-depth',
      'latency-by-forks',
      'memory-by-forks',
    ])
    for (const { svg } of plots) {
      const circles = parse(svg).filter(([tag]) => tag === 'circle')
      expect(circles.length).toBeGreaterThan(0)
      for (const [, { cx, cy }] of circles) {
        expect(Number(cx)).toBeGreaterThanOrEqual(76)
        expect(Number(cx)).toBeLessThanOrEqual(530)
        expect(Number(cy)).toBeGreaterThanOrEqual(52)
        expect(Number(cy)).toBeLessThanOrEqual(340)
      }
    }
  })

  test('show the memory per fork, however many there are', () => {
    const memory = plotsOf({ groups }).find(({ name }) => name === 'memory-by-forks')
    const heights = parse(memory?.svg ?? '')
      .filter(([tag]) => tag === 'circle')
      .map(([, { cy }]) => cy)
    expect(new Set(heights.slice(0, 3)).size).toBe(1)
  })

  test('are left out if nothing was measured', () => {
    expect(plotsOf({ groups: { operations: [] } })).toEqual([])
  })
})
