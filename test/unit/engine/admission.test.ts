import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fairQueue } from '../../../src/engine/admission/fair-queue.ts'
import { type Bound, whyRefused } from '../../../src/engine/admission/judge.ts'
import type { Share } from '../../../src/model/admission.ts'
import { ResourceError } from '../../../src/model/errors.ts'

const gib = 1024 ** 3
const unlimited = { environments: null, memoryBytes: null, diskBytes: null }
const present = { environments: 3, memoryBytes: 3 * gib, diskBytes: 3 * gib }
const asked = { environments: 2, memoryBytes: 2 * gib, diskBytes: 2 * gib }
const everything = Number.POSITIVE_INFINITY
const endless = { environments: 1, memoryBytes: everything, diskBytes: everything }

function boundOf(limits: Partial<Share>): Bound {
  return { whose: 'tester', settings: 'admission.each', limits: { ...unlimited, ...limits } }
}

describe('what is asked for', () => {
  test('is admitted without limits, whatever it is', () => {
    expect(whyRefused(endless, present, boundOf({}))).toBeNull()
  })

  test.each([
    [{ environments: 4 }, 'environments', 'admission.each.environments'],
    [{ memoryBytes: 4 * gib }, 'memoryBytes', 'admission.each.memory'],
    [{ diskBytes: 4 * gib }, 'diskBytes', 'admission.each.disk'],
  ])(
    'is refused beyond %o, with what is scarce and when to try again',
    (limits, scarce, setting) => {
      const why = whyRefused(asked, present, boundOf(limits))
      expect(why).toBeInstanceOf(ResourceError)
      expect(why?.message).toContain('tester')
      expect(why?.detail).toMatchObject({ scarce, retryAfterMs: expect.any(Number) })
      expect(why?.remedy).toContain(setting)
    },
  )

  test('is admitted up to the limit itself, and if it adds nothing', () => {
    const limits = { environments: 5, memoryBytes: 5 * gib, diskBytes: 5 * gib }
    expect(whyRefused(asked, present, boundOf(limits))).toBeNull()
    const nothing = { environments: 0, memoryBytes: 0, diskBytes: 0 }
    const none = { environments: 1, memoryBytes: 1, diskBytes: 1 }
    expect(whyRefused(nothing, present, boundOf(none))).toBeNull()
  })

  test.each(['memoryBytes', 'diskBytes'] as const)(
    'is all of %s for one without a limit',
    (scarce) => {
      const why = whyRefused(endless, present, boundOf({ [scarce]: 100 * gib }))
      expect(why?.detail).toMatchObject({ scarce })
    },
  )
})

describe('operations at once', () => {
  test('take turns by principal, however many one has waiting', async () => {
    const queue = fairQueue(1)
    const order: string[] = []
    const run = async (principal: string) => {
      using _turn = await queue.enter(principal)
      order.push(principal)
      await Promise.resolve()
    }
    await Promise.all(['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(run))
    expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a'])
    expect(queue.waiting).toBe(0)
  })

  test('are never more than may be, and all get their turn', async () => {
    const principals = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(principals, fc.integer({ min: 1, max: 4 }), async (all, atOnce) => {
        const queue = fairQueue(atOnce)
        let inside = 0
        let done = 0
        const run = async (principal: string) => {
          using _turn = await queue.enter(principal)
          inside += 1
          expect(inside).toBeLessThanOrEqual(atOnce)
          await new Promise(setImmediate)
          inside -= 1
          done += 1
        }
        await Promise.all(all.map(run))
        expect(done).toBe(all.length)
      }),
      { numRuns: 30 },
    )
  })

  test('that nobody waits for any longer lose their place', async () => {
    const queue = fairQueue(1)
    const first = await queue.enter('a')
    const stop = new AbortController()
    const second = queue.enter('a', stop.signal)
    const third = queue.enter('b')
    stop.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    first[Symbol.dispose]()
    first[Symbol.dispose]()
    using _turn = await third
    expect(queue.waiting).toBe(0)
  })

  test('of one principal do not pile up without end, and others are not affected', async () => {
    const queue = fairQueue(1)
    const first = await queue.enter('a')
    const waiting = Array.from({ length: 64 }, () => queue.enter('a'))
    await expect(queue.enter('a')).rejects.toMatchObject({
      detail: { scarce: 'branchOperations', retryAfterMs: expect.any(Number) },
    })
    const other = queue.enter('b').then((turn) => turn[Symbol.dispose]())
    first[Symbol.dispose]()
    for (const turn of waiting) (await turn)[Symbol.dispose]()
    await other
  })
})
