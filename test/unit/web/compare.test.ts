import { describe, expect, test } from 'vitest'
import { bestOf, metricNames, metricsOf } from '../../../web/src/compare/metrics.ts'
import { freeName, isDesktop } from '../../../web/src/terminals/use-inside.ts'

describe('metrics', () => {
  const labelled = (labels: Record<string, string>) =>
    metricsOf({ labels, metadata: null, isOwn: true })

  test('are the numbers of labels and metadata', () => {
    const labels = { score: '0.5', team: 'core', empty: ' ', n: '1e3' }
    const metadata = { score: 0.7, a: [1], tests: { passed: 40, by: { hand: { deep: 1 } } } }
    const found = metricsOf({ labels, metadata, isOwn: true })
    expect(Object.fromEntries(found)).toEqual({ score: 0.7, n: 1000, 'tests.passed': 40 })
    expect([...metricsOf({ labels: {}, metadata: [3], isOwn: true })]).toEqual([])
  })

  test('of the snapshot that a branch began with say less than its own labels', () => {
    const metadata = { score: 0.7, cost: 2 }
    const found = metricsOf({ labels: { score: '0.9' }, metadata, isOwn: false })
    expect(Object.fromEntries(found)).toEqual({ score: 0.9, cost: 2 })
  })

  test('scores are named first, and the highest is the best', () => {
    const all = [labelled({ cost: '9', score: '1' }), labelled({ score: '2' }), labelled({})]
    expect(metricNames(all)).toEqual(['score', 'cost'])
    expect(bestOf(all)).toBe(1)
    expect(bestOf([labelled({ cost: '1' })])).toBeNull()
  })
})

test('a new terminal gets a name that is free', () => {
  expect(freeName([])).toBe('main')
  expect(freeName([{ name: 'main' }, { name: '2' }])).toBe('3')
  expect([5899, 5900, 5909, 5910].map(isDesktop)).toEqual([false, true, true, false])
})
