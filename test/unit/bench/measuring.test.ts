import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inTurns, restoreDepths } from '../../../src/bench/groups/chain.ts'
import { inTurn } from '../../../src/bench/homes/engine.ts'
import { mountedIn } from '../../../src/bench/homes/volumes.ts'
import { planOf } from '../../../src/bench/plan.ts'
import { Recorder } from '../../../src/bench/recorder.ts'
import { median, percentile, ratio } from '../../../src/bench/statistics.ts'

const some = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 30 })

describe('statistics', () => {
  test('the median is the middle, or halfway between the two', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(median([])).toBeNaN()
  })

  test('half of all samples are on either side of the median', () => {
    fc.assert(
      fc.property(some, (samples) => {
        const middle = median(samples)
        expect(samples.filter((each) => each < middle).length * 2).toBeLessThanOrEqual(
          samples.length,
        )
        expect(samples.filter((each) => each > middle).length * 2).toBeLessThanOrEqual(
          samples.length,
        )
      }),
    )
  })

  test('at least that part of the samples does not exceed a percentile, which is itself a sample', () => {
    fc.assert(
      fc.property(some, (samples) => {
        const high = percentile(samples, 0.95)
        expect(samples).toContain(high)
        const within = samples.filter((each) => each <= high).length
        expect(within).toBeGreaterThanOrEqual(samples.length * 0.95)
      }),
    )
  })

  test('there is no ratio to what was not measured', () => {
    expect(ratio([30], [10, 20])).toBe(2)
    expect(ratio([], [10])).toBeNull()
    expect(ratio([10], [])).toBeNull()
  })
})

describe('the recorder', () => {
  test('groups samples by subject, in the order of the first ones', async () => {
    const recorder = new Recorder()
    const subject = (what: string, at: number) => ({ by: 'forkpoint', what, on: 'x', at }) as const
    recorder.add(subject('fork', 2), 'ms', 5)
    recorder.add(subject('fork', 1), 'ms', 3.00049)
    recorder.add(subject('fork', 2), 'ms', 7)
    expect(await recorder.time(subject('restore', 1), async () => 'result')).toBe('result')
    expect(recorder.series.map(({ what, at, samples }) => [what, at, samples])).toEqual([
      ['fork', 2, [5, 7]],
      ['fork', 1, [3]],
      ['restore', 1, [expect.any(Number)]],
    ])
  })
})

describe('the plan', () => {
  const plenty = 64 * 2 ** 30

  test('measures everything except the soak, which runs only on request', () => {
    const all = ['operations', 'size', 'fanout', 'chain', 'memory', 'writing', 'pause']
    expect(planOf({}, plenty).groups).toEqual(all)
    const soaked = planOf({ soakMinutes: 3 }, plenty)
    expect(soaked).toMatchObject({ groups: [...all, 'soak'], soakMs: 180_000 })
    expect(planOf({ only: ['soak'] }, plenty)).toMatchObject({
      groups: ['soak'],
      soakMs: 1_200_000,
    })
  })

  test('against another checkout measures only what both are measured at', () => {
    const compared = ['operations', 'writing', 'pause']
    expect(planOf({ against: '/before' }, plenty).groups).toEqual(compared)
    expect(planOf({ against: '/before', only: ['pause'] }, plenty).groups).toEqual(['pause'])
  })

  test('leaves out sizes that the machine cannot hold', () => {
    expect(planOf({}, plenty).sizesMb.at(-1)).toBe(2048)
    expect(planOf({}, 4 * 2 ** 30).sizesMb).toEqual([64, 256, 512, 1024])
    expect(planOf({}, 4 * 2 ** 30).pythonMb).toEqual([64, 512])
    expect(planOf({}, 4 * 2 ** 30).pause.pythonMb).toEqual([1, 64, 512])
  })

  test('is small with `quick`, unless other options say otherwise', () => {
    const quick = planOf({ quick: true }, plenty)
    expect(Math.max(...quick.pythonMb, ...quick.sizesMb)).toBeLessThan(64)
    expect(planOf({ quick: true, rounds: 9 }, plenty).rounds).toBe(9)
  })

  test('of a chain restores both ends and some in between, alternating shallow and deep', () => {
    const depths = restoreDepths(300)
    expect(depths.slice(0, 12)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 30, 60])
    expect(depths.slice(-11)).toEqual([270, ...Array.from({ length: 10 }, (_, i) => 291 + i)])
    expect(inTurns([1, 2, 3, 4, 5])).toEqual([1, 4, 2, 5, 3])
    expect(inTurns(depths).toSorted((a, b) => a - b)).toEqual(depths)
  })
})

describe('engines', () => {
  test('take turns in being the first, and the warm-up also has a first', () => {
    expect([-1, 0, 1, 2].map((round) => inTurn(['a', 'b'], round).join(''))).toEqual([
      'ba',
      'ab',
      'ba',
      'ab',
    ])
    expect(inTurn(['a', 'b', 'c'], 4)).toEqual(['b', 'c', 'a'])
    expect(inTurn(['a'], -1)).toEqual(['a'])
  })

  test('are flushed where their volumes are mounted, and nowhere else', () => {
    const mountinfo = [
      '22 1 254:0 / / rw - ext4 /dev/vda rw',
      '30 22 7:0 / /home/a/data rw,noatime shared:1 - ext4 /dev/loop0 rw',
      '31 22 0:50 / /home/a/files rw,noatime - btrfs /dev/loop1 rw',
      '32 22 0:51 / /home/a/run rw - tmpfs tmpfs rw',
      '33 22 7:2 / /home/ab/data rw - ext4 /dev/loop2 rw',
      '',
    ].join('\n')
    expect(mountedIn('/home/a', mountinfo)).toEqual(['/home/a/data', '/home/a/files'])
    expect(mountedIn('/home/c', mountinfo)).toEqual([])
  })
})
