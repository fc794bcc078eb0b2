import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DecisionFacts, InvalidInputError } from '../../../src/index.ts'
import { type CostModel, cheaperKind, expectedReturns } from '../../../src/manager/decide/cost.ts'
import { deciderOf, parseDecider, random } from '../../../src/manager/decide/decider.ts'
import { type Circumstances, whyPhysical } from '../../../src/manager/decide/forced.ts'

const nothing: CostModel = { snapshotMs: [], restoreMs: [], forkMs: [], snapshots: 0, returns: 0 }
const facts = (replayMs: number, measured = nothing): DecisionFacts => ({
  branch: 'main',
  commands: 1,
  virtualDepth: 0,
  replayMs,
  measured,
})

describe('deciders', () => {
  test('always and never do not look', () => {
    expect(parseDecider('always')(facts(0))).toBe('physical')
    expect(parseDecider('never')(facts(1e9))).toBe('virtual')
  })

  test('random is physical as often as it says', () => {
    const draws = [0.1, 0.2, 0.3, 0.4]
    const decide = random(0.3, () => draws.shift() ?? 1)
    const kinds = Array.from({ length: 4 }, () => decide(facts(0)))
    expect(kinds).toEqual(['physical', 'physical', 'virtual', 'virtual'])
    expect(parseDecider('random:1')(facts(0))).toBe('physical')
    expect(parseDecider('random:0')(facts(0))).toBe('virtual')
  })

  test('threshold is physical once a replay would take longer', () => {
    const decide = parseDecider('threshold:2')
    expect(decide(facts(2000))).toBe('virtual')
    expect(decide(facts(2001))).toBe('physical')
    expect(parseDecider('threshold')(facts(5001))).toBe('physical')
  })

  test('cost weighs what was measured', () => {
    const measured = { ...nothing, snapshotMs: [100], restoreMs: [50], forkMs: [50], snapshots: 9 }
    const decide = parseDecider('cost')
    expect(decide(facts(0))).toBe('physical')
    // Returned to once in ten snapshots: a snapshot of 100 ms pays off when a replay takes 0.8 s.
    expect(expectedReturns(measured)).toBe(0.1)
    expect(decide(facts(100, measured))).toBe('virtual')
    expect(decide(facts(5000, measured))).toBe('physical')
  })

  test('cost never prefers a longer replay', () => {
    const ms = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { maxLength: 5 })
    const models = fc.record({
      snapshotMs: ms,
      restoreMs: ms,
      forkMs: ms,
      snapshots: fc.nat(50),
      returns: fc.nat(50),
    })
    fc.assert(
      fc.property(models, fc.nat(1e6), fc.nat(1e6), (model, a, b) => {
        const [shorter, longer] = [Math.min(a, b), Math.max(a, b)]
        const isPhysical = cheaperKind(model, shorter) === 'physical'
        if (isPhysical) expect(cheaperKind(model, longer)).toBe('physical')
      }),
    )
  })

  test('a function of the caller decides', async () => {
    const decide = deciderOf(async ({ commands }) => (commands > 3 ? 'physical' : 'virtual'))
    expect(await decide(facts(0))).toBe('virtual')
  })

  test.each(['sometimes', 'random:2', 'random:x', 'threshold:-1', 'always:1', ''])(
    '%j is refused with a remedy',
    (text) => {
      expect(() => parseDecider(text)).toThrow(InvalidInputError)
    },
  )
})

describe('only a physical snapshot is right', () => {
  const calm: Circumstances = {
    hasBase: true,
    unlogged: null,
    isWhereWeLeftIt: true,
    terminals: 0,
    running: 0,
    hooks: 0,
  }

  test('not if everything is in the log', () => {
    expect(whyPhysical(calm)).toBe(null)
  })

  test.each([
    ['the first', { hasBase: false }, /no physical snapshot/],
    ['files were written', { unlogged: 'files.write was called' }, 'files.write was called'],
    ['somebody else took one', { isWhereWeLeftIt: false }, /somebody else/],
    ['a terminal is open', { terminals: 1 }, /terminal/],
    ['a command runs', { running: 2 }, /still runs/],
    ['there are hooks', { hooks: 1 }, /hooks/],
  ])('if %s', (_, change, why) => {
    expect(whyPhysical({ ...calm, ...change })).toMatch(why)
  })
})
