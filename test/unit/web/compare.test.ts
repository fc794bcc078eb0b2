import { describe, expect, test } from 'vitest'
import { bestOf, metricNames, metricsOf } from '../../../web/src/compare/metrics.ts'
import { freeName, isDesktop } from '../../../web/src/terminals/use-inside.ts'

describe('metrics', () => {
  test('are the numbers of labels and metadata; metadata goes first', () => {
    const found = metricsOf(
      { score: '0.5', team: 'core', empty: ' ', n: '1e3' },
      { score: 0.7, a: [1] },
    )
    expect([...found]).toEqual([
      ['score', 0.7],
      ['n', 1000],
    ])
    expect([...metricsOf({}, [3])]).toEqual([])
  })

  test('scores are named first, and the highest is the best', () => {
    const all = [
      metricsOf({ cost: '9', score: '1' }, null),
      metricsOf({ score: '2' }, null),
      metricsOf({}, null),
    ]
    expect(metricNames(all)).toEqual(['score', 'cost'])
    expect(bestOf(all)).toBe(1)
    expect(bestOf([metricsOf({ cost: '1' }, null)])).toBeNull()
  })
})

test('a new terminal gets a name that is free', () => {
  expect(freeName([])).toBe('main')
  expect(freeName([{ name: 'main' }, { name: '2' }])).toBe('3')
  expect([5899, 5900, 5909, 5910].map(isDesktop)).toEqual([false, true, true, false])
})
