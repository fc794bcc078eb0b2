import { describe, expect, test } from 'vitest'
import { formatHistory, formatStats, type ManagerOperation } from '../../../src/index.ts'
import { statsOf } from '../../../src/manager/bench/manager-stats.ts'
import { costModelOf } from '../../../src/manager/bench/operation-log.ts'
import { statisticsOf } from '../../../src/manager/bench/statistics.ts'
import { newSnapshotId } from '../../../src/model/ids.ts'

const id = newSnapshotId()

const entry = (change: Partial<ManagerOperation>): ManagerOperation => ({
  operation: 'exec',
  kind: null,
  branch: 'main',
  environment: 'one',
  snapshot: null,
  at: 0,
  ms: 10,
  outcome: 'done',
  ...change,
})

const entries = [
  entry({ ms: 10 }),
  entry({ ms: 30 }),
  entry({ environment: 'two', branch: 'try', ms: 200 }),
  entry({ operation: 'snapshot', kind: 'physical', snapshot: id, ms: 50 }),
  entry({ operation: 'snapshot', kind: 'virtual', snapshot: 'v', ms: 1 }),
  entry({ operation: 'restore', kind: 'physical', snapshot: id, ms: 40, outcome: 'failed' }),
]

const snapshot = {
  id,
  kind: 'physical' as const,
  name: null,
  message: '',
  parent: null,
  createdAt: 0,
}

describe('the benchmark log', () => {
  test('has mean, median, min, max and p95', () => {
    const samples = Array.from({ length: 100 }, (_, index) => index + 1)
    expect(statisticsOf(samples, 'ms')).toEqual({
      count: 100,
      total: 5050,
      mean: 50.5,
      median: 50.5,
      min: 1,
      max: 100,
      p95: 95,
      unit: 'ms',
    })
  })

  test('is summed up for all environments and for each', () => {
    const { all, environments } = statsOf(entries, [{ ...snapshot, bytes: 4096 }])
    expect(all.time.exec).toMatchObject({ count: 3, mean: 80, median: 30, max: 200 })
    expect(all.time['snapshot (virtual)']).toMatchObject({ count: 1, mean: 1 })
    expect(all.time['restore (physical)']).toBeUndefined()
    expect(all.failed).toBe(1)
    expect(all.storage.physical).toMatchObject({ count: 1, total: 4096, unit: 'bytes' })
    expect(environments.one?.time.exec).toMatchObject({ count: 2, mean: 20 })
    expect(environments.two).toMatchObject({ branch: 'try', failed: 0 })
  })

  test('leaves out a size that is not counted yet', () => {
    expect(statsOf(entries, [{ ...snapshot, bytes: null }]).all.storage).toEqual({})
  })

  test('is shown as text', () => {
    const text = formatStats(statsOf(entries, [{ ...snapshot, bytes: 4096 }]))
    expect(text).toContain('all environments')
    expect(text).toContain('try (two)')
    expect(text).toMatch(/exec +3 +80 ms +30 ms +10 ms +200 ms +200 ms +240 ms/)
    expect(text).toMatch(/size \(physical\) +1 +4 KiB/)
    expect(formatHistory(entries).split('\n')).toHaveLength(7)
    expect(formatHistory([])).toBe('nothing yet')
  })

  test('is what the cost model is made of', () => {
    expect(costModelOf(entries)).toEqual({
      snapshotMs: [50],
      restoreMs: [],
      forkMs: [],
      snapshots: 2,
      returns: 0,
    })
  })
})
