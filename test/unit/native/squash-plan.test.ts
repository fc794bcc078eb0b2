import { basename } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Layer } from '../../../src/backends/native/cell/cell.ts'
import { nameOf, squashedLayer } from '../../../src/backends/native/overlay/squash/layer-name.ts'
import {
  fanIn,
  planFold,
  planSquash,
  substitute,
} from '../../../src/backends/native/overlay/squash/plan.ts'
import { snapshotId } from '../engine/histories.ts'

const sealed = (number: number): Layer => ({ path: `/layers/${snapshotId(number)}`, ids: 'cell' })
const base: readonly Layer[] = [
  { path: '/layers/agent-0123456789abcdef', ids: 'host' },
  { path: '/', ids: 'host' },
]
/** Sealed layers of these numbers, the highest on top, over a base. */
const chain = (count: number): Layer[] => [
  ...Array.from({ length: count }, (_, index) => sealed(count - index)),
  ...base,
]

/** What each merged layer was made of, down to the sealed ones. */
class Contents {
  readonly #members = new Map<string, readonly Layer[]>()

  add(merges: ReturnType<typeof planSquash>): void {
    for (const { layer, members } of merges) this.#members.set(layer.path, members)
  }

  flat(layers: readonly Layer[]): string[] {
    return layers.flatMap((layer) => {
      const members = this.#members.get(layer.path)
      return members ? this.flat(members) : [layer.path]
    })
  }
}

describe('a plan to squash', () => {
  test('leaves a short chain alone, and makes one layer of sixteen', () => {
    expect(planSquash(chain(fanIn - 1))).toEqual([])
    const [merge, ...others] = planSquash(chain(fanIn))
    expect(others).toEqual([])
    expect(merge?.members).toEqual(chain(fanIn).slice(0, fanIn))
    expect(basename(merge?.layer.path ?? '')).toMatch(/^s00000000016\.16-[0-9a-f]{16}$/)
  })

  test('keeps every chain short that grows by one and is squashed whenever it is due', () => {
    const contents = new Contents()
    let layers: readonly Layer[] = base
    const copies = new Map<string, number>()
    for (let number = 1; number <= 5000; number += 1) {
      layers = [sealed(number), ...layers]
      const merges = planSquash(layers)
      contents.add(merges)
      for (const { members } of merges) {
        for (const path of contents.flat(members)) copies.set(path, (copies.get(path) ?? 0) + 1)
      }
      layers = substitute(layers, merges)
      expect(layers.length - base.length).toBeLessThanOrEqual(4 * (fanIn - 1))
    }
    expect(contents.flat(layers)).toEqual(chain(5000).map(({ path }) => path))
    expect(Math.max(...copies.values())).toBe(3)
  })

  test('shows the same files in the same order, whatever is merged when', () => {
    const steps = fc.array(
      fc.oneof(
        { weight: 8, arbitrary: fc.record({ grow: fc.integer({ min: 1, max: 40 }) }) },
        { weight: 2, arbitrary: fc.constant('squash' as const) },
        { weight: 1, arbitrary: fc.constant('fold' as const) },
      ),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(steps, (all) => {
        const contents = new Contents()
        let layers: readonly Layer[] = base
        let number = 0
        for (const step of all) {
          if (typeof step === 'object') {
            for (let end = number + step.grow; number < end; ) {
              number += 1
              layers = [sealed(number), ...layers]
            }
            continue
          }
          const merges = step === 'fold' ? planFold(layers) : planSquash(layers)
          contents.add(merges)
          layers = substitute(layers, merges)
          if (step === 'squash') expect(planSquash(layers)).toEqual([])
          else expect(layers.length - base.length).toBeLessThanOrEqual(1)
        }
        expect(contents.flat(layers)).toEqual(chain(number).map(({ path }) => path))
      }),
    )
  })

  test('gives branches of one chain the same merged layers', () => {
    const trunk = chain(20)
    const branch = [sealed(101), sealed(100), ...trunk]
    expect(planSquash(branch)).toEqual(planSquash(trunk))
    const other = substitute(branch, planSquash(trunk))
    expect(other.map(({ path }) => path).slice(0, 3)).toEqual(
      [101, 100, 20].map((number) => sealed(number).path),
    )
  })

  test('does not touch a list that has only some of the members', () => {
    const merges = planSquash(chain(fanIn))
    const older = chain(fanIn - 1)
    expect(substitute(older, merges)).toBe(older)
  })

  test('tells merged layers apart by what they are made of, and knows whose they are', () => {
    const [one, two] = [squashedLayer([sealed(2), sealed(1)]), squashedLayer([sealed(2)])]
    expect(one.path).not.toBe(two.path)
    expect(nameOf(squashedLayer([sealed(3), one]))).toEqual({ owner: snapshotId(3), count: 3 })
    expect(base.map(nameOf)).toEqual([null, null])
  })
})
