import { describe, expect, test } from 'vitest'
import { judge } from '../../../src/bench/promises.ts'
import type { Verdict } from '../../../src/bench/results.ts'
import { groups, operations } from './results.ts'

function verdictOn(words: string, verdicts: readonly Verdict[]): Verdict | undefined {
  return verdicts.find(({ what }) => what.includes(words))
}

describe('promises', () => {
  const verdicts = judge(groups)

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
    ['disk that usage does not explain', 1, true],
    ['memory that it does not explain', 10, false],
  ])('%s: %d', (words, measured, met) => {
    const verdict = verdictOn(words, verdicts)
    expect(verdict?.measured).toBeCloseTo(measured, 6)
    expect(verdict?.met).toBe(met)
  })

  test('what could not be measured is neither met nor missed', () => {
    const verdict = verdictOn('from a spare', verdicts)
    expect(verdict).toMatchObject({ measured: null, met: null })
  })

  test('nothing is said about groups that were not measured', () => {
    const of = (only: readonly Verdict[]) => only.map(({ what }) => what)
    expect(of(judge({ operations }))).toEqual(of(verdicts).slice(0, 9))
    expect(judge({})).toEqual([])
  })

  test('a chain that is too short proves nothing', () => {
    const short = groups.chain?.filter(({ at = 0 }) => at < 300) ?? []
    expect(verdictOn('300 snapshots', judge({ chain: short }))?.met).toBeNull()
  })
})
