import { describe, expect, test } from 'vitest'
import { judge } from '../../../src/bench/promises/judge.ts'
import type { PromiseResult } from '../../../src/bench/results.ts'
import { groups, operations } from './results.ts'

function resultOf(words: string, results: readonly PromiseResult[]): PromiseResult | undefined {
  return results.find(({ what }) => what.includes(words))
}

describe('promises', () => {
  const results = judge(groups)

  test.each([
    ['fork of Python 512 MB, as shipped, against plain CRIU', 300, true],
    ['nothing prepared, each of four', 20, true],
    ['nothing prepared, one alone', 30, true],
    ['private memory of such a fork', 6 * 2 ** 20, false],
    ['bytes of the first', 1, true],
    ['second snapshot of it, against the first', 5, true],
    ['snapshot of an idle shell, against podman', 4, true],
    ['restore of it, against podman', 4, false],
    ['fork of 2 GB, against fork of 64 MB', (50 + 20.48) / 50.64, true],
    ['100 forks of Python 512 MB, all', 4000, true],
    ['100 forks of it, memory', 1200 * 2 ** 20, false],
    ['300 snapshots in a chain', (40 + 29.55) / 40.55, false],
    ['their restore', 1, true],
    ['untar 11000 files inside, until it returns: against ext4', 1.2, true],
    ['untar 11000 files inside, until sync: against ext4', 1.4, false],
    ['pause of Python 2 GB, first snapshot, against idle Python', 1.6, false],
    ['after a change of 32 MB', 1.25, true],
    ['idle shell, pause, second snapshot: after, against before', 0.4, true],
    ['disk that usage does not explain', 1, true],
    ['memory that it does not explain', 10, false],
  ])('%s: %d', (words, measured, met) => {
    const result = resultOf(words, results)
    expect(result?.measured).toBeCloseTo(measured, 6)
    expect(result?.met).toBe(met)
  })

  test('what could not be measured is neither met nor missed', () => {
    const result = resultOf('from a spare', results)
    expect(result).toMatchObject({ measured: null, met: null })
  })

  test('nothing is said about groups that were not measured', () => {
    const of = (only: readonly PromiseResult[]) => only.map(({ what }) => what)
    expect(of(judge({ operations }))).toEqual(of(results).slice(0, 9))
    expect(judge({})).toEqual([])
  })

  test('a run that nothing took turns with makes no promise about before and after', () => {
    const alone = groups.pause?.filter(({ by }) => by === 'forkpoint') ?? []
    expect(resultOf('against before', judge({ pause: alone }))).toBeUndefined()
    expect(judge({ pause: alone }).length).toBeGreaterThan(0)
  })

  test('a chain that is too short proves nothing', () => {
    const short = groups.chain?.filter(({ at = 0 }) => at < 300) ?? []
    expect(resultOf('300 snapshots', judge({ chain: short }))?.met).toBeNull()
  })
})
